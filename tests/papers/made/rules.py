"""A rule for each judged figure: data by which every claim of the figure holds."""

import math
from collections.abc import Mapping
from functools import cache

from halfway.papers.directional_walks import claims as walks
from halfway.papers.drip.analysis import printed_delivery, printed_mean, printed_meeting
from halfway.papers.walk_overlay.claims_path import WALKS
from halfway.pipeline.reproduction.published import Published, published
from tests.papers.made.summaries import Parameters, Rule

_DIRECTED = WALKS[0]


@cache
def _table(figure: str) -> list[Published]:
    return list(published(walks.HERE / f"{figure}.csv"))


def _printed(figure: str, metric: str, **cell: object) -> float:
    rows = _table(figure)
    (row,) = [r for r in rows if r.metric == metric and cell.items() <= r.cell.items()]
    return row.value


def _walk_networks(metric: str, point: Parameters) -> float:
    return 40.0 if metric == "draws" else int(point["n"]) / 200


def _walk_steps(metric: str, point: Parameters) -> float:
    slower = 1.0 if point["system"] == _DIRECTED else 8.0
    if metric == "relative box":
        return 0.5 * slower
    return slower * (100 + 1e5 / int(point["n"]) ** 1.5)


def _walk_table(_metric: str, point: Parameters) -> dict[str, float]:
    cell = {name: point[name] for name in ("n", "k", "system")}
    return {which: _printed("figure-6", f"{which} steps", **cell) for which in ("mean", "median")}


def _walk_loads(metric: str, point: Parameters) -> dict[str, float]:
    printed = str(point["system"]).replace("breadth-first-tree", "shortest-path")
    cell = {"n": point["n"], "system": printed}
    if metric == "largest load":
        return {"mean": 400, "maximum": _printed("figure-8", "maximum load", **cell)}
    return {which: _printed("figure-7", f"{which} load", **cell) for which in ("mean", "median")}


def _walk_balance(metric: str, point: Parameters) -> float | dict[str, float]:
    n, system = float(point["n"]), point["system"]
    if metric == "largest load":
        return n / 2
    if metric == "load":
        return {"mean": 60.0, "median": 60.0}
    return {"random-walk": 1.0, "directional-walk": 1.05}.get(str(system), 3.0)


def _growing(steps: float, path: float) -> Rule:
    """A rule with these exponents of directional steps and of paths; pure steps grow as n."""

    def rule(metric: str, point: Parameters) -> float:
        n = float(point["n"])
        if metric == "unmet":
            return 0.0
        if metric == "path":
            return float(n ** (0.5 if point["system"] == "georendezvous" else path))
        return float(n ** (steps if point["system"] == _DIRECTED else 1.0))

    return rule


def _uneven(metric: str, point: Parameters) -> float:
    """Paths, state and messages that do not grow as expected, pure steps as √n, and lost pairs."""
    n = float(point["n"])
    exponents = {"path": 0.9, "state": 0.7, "messages": 1.3, "steps": 0.5}
    return float(n ** exponents[metric]) if metric in exponents else 0.5


def _recipes(metric: str, point: Parameters) -> float:
    if metric == "reach":
        return 0.5 - 0.1 * float(point["beta"])
    return (10.0 if point["system"] == _DIRECTED else 90.0) * 1000 / int(point["n"])


def _overlays(metric: str, point: Parameters) -> float | dict[str, float]:
    n, count = int(point["n"]), int(point["initiators"])
    directed = point["system"] == _DIRECTED
    nodes = (n**0.97 / 10 if directed else n**0.8) * (2 + math.log(count))
    depth = 0.97 - 0.17 * (2 / count) ** 2 - (0 if directed else 0.02 / count)
    wide = 0.1 if directed else 0.2
    known = {
        "active squared": nodes**2 * (1 + wide**2), "depth": depth, "depth squared": 2 * depth**2,
        "active x depth": nodes * depth, "needed": nodes, "draws": 40.0, "unjoined": 0.0,
    }  # fmt: skip
    if metric == "active":
        return {"mean": nodes, "outliers": wide / 10}
    return known[metric]


def _marked(_metric: str, point: Parameters) -> float:
    found = _overlays("active", point)
    assert isinstance(found, dict)
    return found["mean"] * (1.2 if point["marking"] == "reached" else 1.0)


def _uncorrelated(metric: str, point: Parameters) -> float:
    """Depth as for Figure 9, and a number of active nodes that depends on the size alone."""
    size = int(point["n"]) / 10
    found, depth = _overlays(metric, point), _overlays("depth", point)
    assert isinstance(depth, float)
    steady = {"active": size, "active squared": 1.04 * size**2, "active x depth": size * depth}
    if metric in steady:
        return steady[metric]
    assert isinstance(found, float)
    return found


def _bloom(metric: str, _point: Parameters) -> float:
    known = {"lost": 0.0, "none": 90.0, "links": 90.0}
    return known.get(metric, 5.0)


def _stopping(_metric: str, _point: Parameters) -> float:
    return 0.001


def _detours(metric: str, point: Parameters) -> float:
    if metric != "path":
        return 10.0
    if point["points"] == 2:
        return 13.0
    return 10.0 * (1.05 + 0.9 / min(int(point["points"]), 8) ** 2)


def _closest(metric: str, point: Parameters) -> float:
    return 14.0 if metric == "path" and point["points"] == 2 else 11.0 if metric == "path" else 10.0


def _trees(metric: str, point: Parameters) -> float:
    clients = int(point["clients"])
    ratio = 0.53 + 0.055 * clients if clients <= 8 else 1 - 0.01 * clients
    return 100 * (ratio if metric == "many" else 1.0)


def _theorem(metric: str, _point: Parameters) -> float:
    return {"growth": 4.0, "reach": 0.4}.get(metric, 0.3)


def _signalling(_metric: str, point: Parameters) -> float:
    return 3.0 * (int(point["points"]) - 1)


def _drip(metric: str, point: Parameters) -> float:
    k, m = int(point["k"]), int(point["m"])
    if metric in ("coverage", "union"):
        return 0.3 * m**0.5 / k
    if metric == "delivered":
        return 0.9 + 0.02 * m
    if metric in ("copies", "copies for one"):
        return 0.5 * (m + int(point["l"]))
    return {"drip": 1.0, "sf": 3.0, "random": 2.0}[str(point["system"])] * (5 + 0.1 * k) / m**0.5


def _uninvolved(metric: str, _point: Parameters) -> float:
    return 0.5 if metric.endswith("outside") else 1.0


def _packets(metric: str, point: Parameters) -> float:
    known = {"subscription": 30.0, "event": 40.0, "event with payload": 90.0, "repeats": 0.5}
    if metric == "local":
        return 0.1 if point["system"] == "random" else 0.5
    return known.get(metric, 3.0 if point["system"] == "sf" else 1.0)


def _drip_pairs(metric: str, point: Parameters) -> float:
    slower = point["system"] == "sf"  # than the other system of the pair
    return 0.5 if metric.endswith("later") == slower else 0.001


def _analysis(metric: str, point: Parameters) -> float:
    if metric == "wait":
        return printed_mean(int(point["destinations"]), int(point["copies"]))
    if metric == "deviation":
        return 1.0
    if metric == "complete":
        sizes = (int(point[name]) for name in ("N", "k", "l", "m"))
        return float(point["requested"]) or printed_delivery(*sizes)
    return printed_meeting(int(point["grid"]), int(point["brokers"]))


def _lemma(metric: str, _point: Parameters) -> float:
    return {"losses": 0.0, "harmful": 0.0, "two links": 0.3}.get(metric, 1.0)


def _delivered(_metric: str, point: Parameters) -> float:
    lost = 0.5 if point["system"] == "underlay-siena" else 1.0
    return 100 - lost * int(point["faults"])


def _disturbed(metric: str, point: Parameters) -> float:
    return _delivered(metric, point) if metric == "delivered" else _loads(metric, point)


def _work(power: float) -> Rule:
    """The steps of all joins grow with the number of brokers to this power."""
    return lambda metric, point: 5.0 if metric == "degree" else float(point["brokers"]) ** power


def _loads(_metric: str, point: Parameters) -> float:
    aware = 0.8 if point["system"] == "underlay-siena" else 1.0
    return aware * int(point["events"]) / 100


def _exchanged(rule: Rule) -> Rule:
    """A rule with the two kinds of walk exchanged."""

    def exchanged(metric: str, point: Parameters) -> float | Mapping[str, float]:
        other = WALKS[1 - WALKS.index(str(point["system"]))]
        return rule(metric, {**point, "system": other})

    return exchanged


def _detectors(metric: str, point: Parameters) -> float:
    if metric in ("listed", "detected"):
        return 1.0
    if metric == "mistakes" and point["scenario"] == "calm":
        return 0.0
    printed = point["system"] == "path-heartbeat" and point["refresh_s"] == 0.0
    few = {"path-gossip": 0.1, "gossip-counters": 0.2, "gossip-counters by broadcast": 2.0}
    found = few.get(str(point["system"]), 1 + 3 * printed)
    return 0.004 * found if metric == "wrong" else found


# Rules by which claims fail that the general spoilers leave.
TWINS: dict[str, tuple[Rule, ...]] = {
    "directional-walks/growth": (_growing(0.9, 0.6), _uneven),
    "directional-walks/growth-largest": (_growing(0.9, 0.6),),
    "underlay-siena/linear-time": (_work(2.0),),
} | {f"walk-overlay/figure-8{panel}": (_exchanged(_overlays),) for panel in ("", "ab", "cd", "ef")}
RULES: dict[str, Rule] = {
    "directional-walks/section-2": _detectors,
    "directional-walks/section-2-lists": lambda _metric, _point: 1.0,
    "directional-walks/section-3": lambda _metric, _point: 1.0,
    "directional-walks/section-4": _walk_networks,
    "directional-walks/figure-5": _walk_steps,
    "directional-walks/step-lengths": lambda _metric, point: 1500.0 / int(point["n"]),
    "directional-walks/figure-6": _walk_table,
    "directional-walks/figure-6-stepped-on": _walk_table,
    "directional-walks/figure-7": _walk_loads,
    "directional-walks/figure-8": _walk_loads,
    "directional-walks/figures-7-8-interpretations": _walk_loads,
    "directional-walks/figure-9": _walk_balance,
    "directional-walks/growth": _growing(0.5, 0.6),
    "directional-walks/growth-largest": _growing(0.5, 0.6),
    "walk-overlay/section-4": _recipes,
    "walk-overlay/section-6": _overlays,
    "walk-overlay/figure-8ab": _overlays,
    "walk-overlay/figure-8cd": _overlays,
    "walk-overlay/figure-8ef": _overlays,
    "walk-overlay/figure-8": _overlays,
    "walk-overlay/figure-8-reached": _marked,
    "walk-overlay/figure-9": _overlays,
    "walk-overlay/figure-10": _uncorrelated,
    "walk-overlay/bloom": _bloom,
    "walk-overlay/stopping-rule": _stopping,
    "walk-overlay/uninvolved": _uninvolved,
    "georendezvous/figure-3a": _detours,
    "georendezvous/figure-3a-toured": _detours,
    "georendezvous/figure-3b": _detours,
    "georendezvous/figure-3c": _closest,
    "georendezvous/figure-3d": _trees,
    "georendezvous/theorem-3.1": _theorem,
    "georendezvous/signalling": _signalling,
    "georendezvous/beyond-loss": lambda _metric, _point: 1.0,
    "georendezvous/beyond-mobility": lambda _metric, _point: 1.0,
    "georendezvous/beyond-systems": lambda _metric, _point: 1.0,
    "drip/figure-3a": _drip,
    "drip/figure-3b": _drip,
    "drip/figure-3b-pairs": _drip_pairs,
    "drip/figure-4": _drip,
    "drip/components": _drip,
    "drip/figures-802.11": _drip,
    "drip/interpretations": _drip,
    "drip/limited": _drip,
    "drip/contended": _drip,
    "drip/packets": _packets,
    "drip/section-5c": _analysis,
    "underlay-siena/lemma": _lemma,
    "underlay-siena/figure-5": _delivered,
    "underlay-siena/figure-5-interpretations": _delivered,
    "underlay-siena/linear-time": _work(1.0),
    "underlay-siena/figure-6": _loads,
    "underlay-siena/figures-5-6-network": _disturbed,
    "underlay-siena/figure-7": _loads,
    "underlay-siena/figure-8": _loads,
}
