"""Paper 4 (DRIP): the points of each figure, their scales and interpretations."""

from halfway.papers.drip import (
    claims,
    claims_analysis,
    claims_interpretations,
    claims_packets,
    claims_pairs,
)
from halfway.papers.drip.claims import BROKERS, COPIES, NEAREST_3A, NEAREST_3B
from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Figure, Paper, Plot, Scale

WAITS = "halfway.papers.drip.analysis:waits"
BROKING = "halfway.papers.drip.measurements:broking"
PACKETS = "halfway.papers.drip.packets:packets"
PAIRWISE = "halfway.papers.drip.measurements:pairwise"
MEETINGS = "halfway.papers.drip.grid_walks:grid_meetings"
DELIVERIES = "halfway.papers.drip.grid_walks:grid_deliveries"
CONTACTS = "halfway.papers.drip.contacts:region_contacts"

INTERVALS = (
    "95 % intervals: bootstrap over networks (what happens on one network is not independent), "
    "Student's t with one degree of freedom less than networks"
)
EQUATION = (
    "λ = 1: times in units of 1/λ; equation (1) is taken as the paper states it, and only what is "
    "derived from it is judged; (l² + 3l)/4 is its second-order truncation with one sign inverted"
)
ENVIRONMENT = (
    "200 nodes in 1,000 m x 1,000 m, range 120 m, random waypoint from its stationary state, 10-20 "
    "m/s, pauses 2-4 s; events by a Poisson process of 0.8 a second, from 20 s until 60 s before "
    "the end; every system and m meets the same motion, events and phases"
)
LOAD = (
    "here 2.4 events occur a second instead of 0.8, and a share of 0.1 of the nodes subscribes "
    "instead of 0.5"
)
CAPABILITIES = (
    "capabilities are 1/rank for a random ranking; one node detects an event, drawn by capability; "
    "the k most capable nodes of the network are the candidates, unless each component elects; "
    "shares are of all brokers"
)
BY_COMPONENT = (
    "where each component elects, all nodes are candidates: each component of the initial network "
    "elects k brokers, so there are more than k"
)
PARALLEL = (
    "a broker may meet several at a time; beacons and reports every 2 s, subscriptions to the same "
    "broker every 10 s; nodes know their neighbours without delay; a record without a next hop is "
    "deferred by 0.5 s, at most 20 times"
)
CONTENTION = (
    "contended radio: CSMA/CA with 802.11a timing at 12 Mb/s; all records are transmitted, "
    "including beacons, reports and subscriptions; nodes know their neighbours one second late"
)
AXES = "the text lacks the figures' curves: k = 10 to 40 and m = 1, 2, 4 are our choice"
SF = "SF: the same protocol, but every broker gets every event; nothing else differs"
FEW = (
    "limited contacts (our interpretation): a broker transfers one event to one other broker, then "
    "none for 5 s, or 1 or 20 s; beacons, reports and subscriptions are not limited; an event has "
    "one subscriber on average if a share of 0.1 of the nodes subscribes, and five with the "
    "paper's 0.5"
)
OTHERWISE = (
    "interpretations, one at a time: a hop takes 1 ms for 120 m; a bridge node carries records "
    "between its two nearest brokers only; a source gives copies to its m relays only; each node "
    "detects an event with its ability 1/rank as probability, so that 5.9 nodes detect it on "
    "average, and the first copy at a broker or a subscriber counts"
)
NETWORK = ("n", "seconds")


def _point(scale: Scale, measurement: str, **given: Scalar) -> Point:
    seconds = 500.0 if scale == "paper" else 200.0
    parameters: dict[str, Scalar] = {
        "n": 200, "seconds": seconds, "radio": "ideal", "hello_s": 0.0, "elected": "network",
        **given,
    }  # fmt: skip
    runs = 2.0 if measurement == PAIRWISE else 1.0
    return Point(measurement, parameters, NETWORK, 7.0 * seconds * runs)


def _figure_3a(scale: Scale, nearest: int = NEAREST_3A) -> list[Point]:
    return [
        _point(scale, BROKING, system="drip", k=k, m=m, l=nearest) for k in BROKERS for m in COPIES
    ]


def _figure_3b(scale: Scale) -> list[Point]:
    drip = _figure_3a(scale, NEAREST_3B)
    return drip + [_point(scale, BROKING, system="sf", k=k, m=1, l=NEAREST_3B) for k in BROKERS]


def _pairs(scale: Scale) -> list[Point]:
    return [
        _point(
            scale, PAIRWISE, system=system, other="drip", k=claims_pairs.PAIRS, l=NEAREST_3B, m=m,
            other_m=1, elected=elected,
        )
        for elected in claims.ELECTED
        for system, m in (("sf", 1), ("drip", claims.COPIES[-1]))
    ]  # fmt: skip


def _figure_4(scale: Scale) -> list[Point]:
    return [
        _point(scale, BROKING, system=system, k=k, m=2, l=NEAREST_3B)
        for k in BROKERS
        for system in ("drip", "random")
    ]


def _by_component(scale: Scale) -> list[Point]:
    return [
        _point(scale, BROKING, system=system, k=k, m=m, l=NEAREST_3B, elected="component")
        for k in BROKERS
        for system, m in (*(("drip", m) for m in claims.COMPONENT_COPIES), ("sf", 1))
    ]


def _wifi(scale: Scale) -> list[Point]:
    systems = [*(("drip", m) for m in claims.CONTENDED_COPIES), ("sf", 1), ("random", 1)]
    return [
        _point(
            scale, BROKING, system=system, m=m, k=k, l=NEAREST_3B, radio="contention", hello_s=1.0
        )
        for k in BROKERS
        for system, m in systems
    ]


def _limited(scale: Scale) -> list[Point]:
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


def _contended(scale: Scale) -> list[Point]:
    systems = [*(("drip", m) for m in claims.CONTENDED_COPIES), ("sf", 1), ("random", 1)]
    return [
        _point(
            scale, BROKING, system=system, m=m, k=claims.CONTENDED, l=NEAREST_3B,
            share=share, rate=rate, radio="contention", hello_s=1.0,
        )
        for share, rate in claims.CONTENDED_LOADS
        for system, m in systems
    ]  # fmt: skip


def _interpretations(_scale: Scale) -> list[Point]:
    # Intervals are over networks: at paper scale there are more of them, and not longer runs.
    systems = [*(("drip", m) for m in claims_interpretations.COPIES), ("sf", 1), ("random", 1)]
    return [
        _point("quick", BROKING, system=system, k=k, m=m, l=NEAREST_3B, reading=name, **parameters)
        for name, (parameters, _) in claims_interpretations.INTERPRETATIONS.items()
        for k in claims_interpretations.BROKERS
        for system, m in systems
    ]


def _packets(scale: Scale) -> list[Point]:
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


def _analysis(scale: Scale) -> list[Point]:
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


REPLICATES: dict[Scale, int] = {"quick": 4, "paper": 8}


def _curves(metric: str, title: str, colour: str | None = "m") -> tuple[Plot, ...]:
    """Return a plot of DRIP's experiments: means of a metric over k, with one panel per system."""
    return (Plot("curves", metric, "k", "system", "brokers k", title, colour, statistic="mean"),)


PAPER = Paper(
    name="drip",
    title="DRIP: A Dynamic VoRonoi RegIons-Based Publish/Subscribe Protocol in Mobile Networks",
    authors="Quan Yuan, Jie Wu",
    year=2009,
    bounds=dict.fromkeys(("coverage", "union", "local", "delivered"), (0.0, 1.0)),
    figures=(
        Figure(
            "figure-3a", "Broker coverage against the number of brokers",
            _figure_3a, REPLICATES, claims.judge_coverage,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, AXES, INTERVALS),
            _curves("coverage", "share with a copy"),
        ),
        Figure(
            "figure-3b", "Delivery delay against the number of brokers, compared with an epidemic",
            _figure_3b, REPLICATES, claims.judge_delay,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, SF, AXES, INTERVALS),
            _curves("waited", "seconds, lost events 60"),
        ),
        Figure(
            "figure-3b-pairs", "Delivery delay pair by pair: SF and four copies against one copy",
            _pairs, {"quick": 4, "paper": 12}, claims_pairs.judge_pairs,
            (ENVIRONMENT, CAPABILITIES, BY_COMPONENT, PARALLEL, SF, INTERVALS),
        ),
        Figure(
            "figure-4", "Delivery delay by the choice of brokers",
            _figure_4, REPLICATES, claims.judge_selection,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, AXES, INTERVALS),
            _curves("waited", "seconds, lost events 60", colour=None),
        ),
        Figure(
            "components", "Figure 3 where each component elects its own brokers",
            _by_component, REPLICATES, claims.judge_components,
            (ENVIRONMENT, CAPABILITIES, BY_COMPONENT, PARALLEL, SF, AXES, INTERVALS),
        ),
        Figure(
            "figures-802.11", "Figures 3 and 4 where nodes contend for the medium",
            _wifi, REPLICATES, claims.judge_wifi,
            (ENVIRONMENT, CAPABILITIES, CONTENTION, SF, AXES, INTERVALS),
            _curves("waited", "seconds, lost events 60"),
        ),
        Figure(
            "interpretations", "Figures 3 and 4 under other interpretations of single sentences",
            _interpretations, {"quick": 3, "paper": 8},
            claims_interpretations.judge_interpretations,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, OTHERWISE, SF, AXES, INTERVALS),
        ),
        Figure(
            "limited",
            "Delivery delay compared with an epidemic where a broker transfers one event at a time",
            _limited,
            {"quick": 4, "paper": 10},
            claims.judge_limited, (ENVIRONMENT, CAPABILITIES, FEW, SF, INTERVALS),
        ),
        Figure(
            "contended",
            "Figures 3(b) and 4 where nodes contend for the medium, at another load",
            _contended, {"quick": 4, "paper": 8}, claims.judge_contended,
            (ENVIRONMENT, LOAD, CAPABILITIES, CONTENTION, SF, INTERVALS),
        ),
        Figure(
            "packets", "The packets of DRIP: bytes by kind, beacons, and events at their broker",
            _packets, REPLICATES, claims_packets.judge_packets,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, SF, INTERVALS),
        ),
        Figure(
            "section-5c",
            "The analytical study: time until all destinations have a copy, and until regions meet",
            _analysis, {"quick": 8, "paper": 20}, claims_analysis.judge_analysis,
            (EQUATION, INTERVALS),
        ),
    ),
)  # fmt: skip
