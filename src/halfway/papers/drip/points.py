"""The points of paper 4: one function for each figure, with the parameters that determine its
results.
"""

from halfway.papers.drip import (
    claims,
    claims_analysis,
    claims_interpretations,
    claims_packets,
    claims_pairs,
)
from halfway.papers.drip.claims import BROKERS, COPIES, NEAREST_3A, NEAREST_3B
from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Scale

WAITS = "halfway.papers.drip.analysis:waits"
BROKING = "halfway.papers.drip.measurements:broking"
PACKETS = "halfway.papers.drip.packets:packets"
PAIRWISE = "halfway.papers.drip.measurements:pairwise"
MEETINGS = "halfway.papers.drip.grid_walks:grid_meetings"
DELIVERIES = "halfway.papers.drip.grid_walks:grid_deliveries"
CONTACTS = "halfway.papers.drip.contacts:region_contacts"
NETWORK = ("n", "seconds")


def _point(scale: Scale, measurement: str, **given: Scalar) -> Point:
    seconds = 500.0 if scale == "paper" else 200.0
    parameters: dict[str, Scalar] = {
        "n": 200, "seconds": seconds, "radio": "ideal", "hello_s": 0.0, "elected": "network",
        **given,
    }  # fmt: skip
    runs = 2.0 if measurement == PAIRWISE else 1.0
    return Point(measurement, parameters, NETWORK, 7.0 * seconds * runs)


def figure_3a(scale: Scale, nearest: int = NEAREST_3A) -> list[Point]:
    """Return the points of Figure 3(a): DRIP with each k and m, for the coverage."""
    return [
        _point(scale, BROKING, system="drip", k=k, m=m, l=nearest) for k in BROKERS for m in COPIES
    ]


def figure_3b(scale: Scale) -> list[Point]:
    """Return the points of Figure 3(b): DRIP and SF, for the delay."""
    drip = figure_3a(scale, NEAREST_3B)
    return drip + [_point(scale, BROKING, system="sf", k=k, m=1, l=NEAREST_3B) for k in BROKERS]


def pairs(scale: Scale) -> list[Point]:
    """Return the points at which two systems run on the same motion and the same events."""
    return [
        _point(
            scale, PAIRWISE, system=system, other="drip", k=claims_pairs.PAIRS, l=NEAREST_3B, m=m,
            other_m=1, elected=elected,
        )
        for elected in claims.ELECTED
        for system, m in (("sf", 1), ("drip", claims.COPIES[-1]))
    ]  # fmt: skip


def figure_4(scale: Scale) -> list[Point]:
    """Return the points of Figure 4: DRIP, and brokers that are drawn at random."""
    return [
        _point(scale, BROKING, system=system, k=k, m=2, l=NEAREST_3B)
        for k in BROKERS
        for system in ("drip", "random")
    ]


def by_component(scale: Scale) -> list[Point]:
    """Return the points at which each component of the network elects its brokers."""
    return [
        _point(scale, BROKING, system=system, k=k, m=m, l=NEAREST_3B, elected="component")
        for k in BROKERS
        for system, m in (*(("drip", m) for m in claims.COMPONENT_COPIES), ("sf", 1))
    ]


def wifi(scale: Scale) -> list[Point]:
    """Return the points over a contended radio, with each k."""
    systems = [*(("drip", m) for m in claims.CONTENDED_COPIES), ("sf", 1), ("random", 1)]
    return [
        _point(
            scale, BROKING, system=system, m=m, k=k, l=NEAREST_3B, radio="contention", hello_s=1.0
        )
        for k in BROKERS
        for system, m in systems
    ]


def limited(scale: Scale) -> list[Point]:
    """Return the points at which a broker hands over few events, and then rests."""
    systems = [("sf", 1), *(("drip", m) for m in claims.LIMITED_COPIES)]
    rests = [(claims.RESTS_S[0], load, pair) for load in claims.LOADS for pair in systems]
    rests += [
        (rest, load, pair)
        for rest in claims.RESTS_S[1:]
        for load in claims.REST_LOADS
        for pair in systems[:2]
    ]
    return [
        _point(
            scale, BROKING, system=system, k=claims.LIMITED, l=claims.LIMITED_NEAREST, m=m,
            share=share, rate=rate, handed=1, rest=rest,
        )
        for rest, (share, rate), (system, m) in rests
    ]  # fmt: skip


def contended(scale: Scale) -> list[Point]:
    """Return the points over a contended radio, with each load."""
    systems = [*(("drip", m) for m in claims.CONTENDED_COPIES), ("sf", 1), ("random", 1)]
    return [
        _point(
            scale, BROKING, system=system, m=m, k=claims.CONTENDED, l=NEAREST_3B,
            share=share, rate=rate, radio="contention", hello_s=1.0,
        )
        for share, rate in claims.CONTENDED_LOADS
        for system, m in systems
    ]  # fmt: skip


def interpretations(_scale: Scale) -> list[Point]:
    """Return the points of the interpretations of DRIP, one at a time."""
    # Intervals are over networks: at paper scale there are more of them, and not longer runs.
    systems = [*(("drip", m) for m in claims_interpretations.COPIES), ("sf", 1), ("random", 1)]
    return [
        _point("quick", BROKING, system=system, k=k, m=m, l=NEAREST_3B, reading=name, **parameters)
        for name, (parameters, _) in claims_interpretations.INTERPRETATIONS.items()
        for k in claims_interpretations.BROKERS
        for system, m in systems
    ]


def packets(scale: Scale) -> list[Point]:
    """Return the points at which packets are counted by their kinds."""
    return [
        _point(
            scale,
            PACKETS,
            system=system,
            k=k,
            m=claims_packets.COPIES,
            l=claims_packets.NEAREST,
            payload_bytes=claims_packets.PAYLOAD_BYTES,
        )
        for k in claims_packets.BROKERS
        for system in claims_packets.SYSTEMS
    ]


def analysis(scale: Scale) -> list[Point]:
    """Return the points of the paper's analysis: waits, meetings on a grid, and contacts."""
    draws = 20_000 if scale == "paper" else 5_000
    means = [
        Point(WAITS, {"destinations": last, "copies": m, "draws": draws}, ("draws",), 20.0)
        for last in claims_analysis.DESTINATIONS
        for m in claims_analysis.COPIES
    ]
    pairs = 1000 if scale == "paper" else 300
    meetings = [
        Point(MEETINGS, {"grid": n, "brokers": k, "draws": pairs}, ("grid",), 0.2 * n)
        for n in claims_analysis.GRIDS
        for k in claims_analysis.BROKERS
    ]
    choices = [(0, k) for k in claims_analysis.CHOSEN]
    choices += [(t, claims_analysis.chosen_brokers(t)) for t in claims_analysis.REQUESTED]
    deliveries = [
        Point(
            DELIVERIES,
            {**claims_analysis.CELL, "k": k, "requested": requested, "draws": pairs // 3},
            ("N", "requested"),
            40.0 * k,
        )
        for requested, k in choices
    ]
    seconds = 500.0 if scale == "paper" else 200.0
    contacts = [
        Point(
            CONTACTS,
            {"n": claims_analysis.NODES, "k": k, "seconds": seconds},
            ("n", "seconds"),
            seconds,
        )
        for k in claims_analysis.REGIONS
    ]
    return means + meetings + deliveries + contacts
