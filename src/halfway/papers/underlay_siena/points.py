"""The points of paper 5's figures: one function for each figure or point, with the parameters of
the runs.
"""

from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Scale

_MODULE = "halfway.papers.underlay_siena.measurements"
NETWORK = ("n", "brokers")

LOSSES = (0.001, 0.01)  # of a message on a link of the underlay; the paper prints none
PING_S = 1.0  # between two PINGs of a broker, as by messages
NODES, BROKERS, CLIENTS, EVENTS = 10_000, 100, 1000, 10_000  # [uas §5, Table 2]
FAULTS = (5, 10, 20, 40)  # the figure's axis is not in the text
WHERE = ("links", "nodes", "used", "brokers")
REPAIRS = ("repairs", "fails over only")
SYSTEM_REMEDIES = ("none", "both")  # of the overlays of Figures 5 to 8
BROKERS_FAIL = ("used", "brokers")  # fault models in which clients often lose their broker
TAU = 0.01  # τ of the run; the paper does not state it
# Of the run, if τ is 10 s: the longest mean time of examples/tree_recovery.py, PINGs each second.
DETECTION = 0.00424
# Interpretations of open points of the paper, for Figure 5 with Algorithm 1 as printed: the
# sentence, the name of its rules, and whether failures are detected late.
OPEN = {
    "the alternate nearest in hops": ("nearest in hops", False),
    "neighbours by all links": ("all links", False),
    "alternate before grandparent": ("alternate before grandparent", False),
    "failures detected by PINGs": ("around", True),
}
GROWING = (25, 50, 100, 200, 400)  # brokers
EVENT_COUNTS = (1000, 4000, 7000, 10_000)  # [uas §5] "from 1000 to 10000"
BALANCES = ("halves", "least-wait", "earliest")
# How verdicts name the rules of balance. We call *least-wait* idealised, because it compares queues
# that no broker can read: brokers by messages choose other paths (`test_figures_twin.py`).
BALANCE_NAMES = dict(zip(BALANCES, ("halves", "idealised least-wait", "earliest"), strict=True))
CALM_S, RUSH_S = 10.0, 0.1  # seconds in which all events are published: without and with queues
INTERESTS = ("selective", "all")  # of filters, as in `world.workload.content`
MODELS = (("selective", CALM_S), ("selective", RUSH_S), ("all", RUSH_S))
VARIANTS = (  # interpretation of the paths, remedy
    ("tested", "none"),
    ("around", "none"),
    ("free", "none"),
    ("around", "retry"),
    ("around", "bare path"),
    ("tested", "both"),
    ("around", "both"),
    ("nearest in hops", "none"),
    ("all links", "none"),
)

_OVERLAY: dict[str, Scalar] = {"n": NODES, "brokers": BROKERS, "reading": "around"}
_CONTENT: dict[str, Scalar] = {"clients": CLIENTS, "interest": "selective"}


def lemma(_scale: Scale) -> list[Point]:
    """Declare the points of paper 5's lemma [uas §4.2]: one per interpretation and remedy."""
    given = [
        {**_OVERLAY, "reading": interpretation, "remedy": remedy}
        for interpretation, remedy in VARIANTS
    ]
    system = {"system": "underlay-siena"}
    return [Point(f"{_MODULE}:lemma", {**some, **system}, NETWORK, 1500.0) for some in given]


def figure_5(_scale: Scale) -> list[Point]:
    """Declare the points of Figure 5 [uas]: one per remedy, fault model, number of faults
    and repair.
    """
    return [
        delivery_point(where, faults, system, repair, remedy)
        for remedy in SYSTEM_REMEDIES
        for where in WHERE
        for faults in FAULTS
        for system, repair in (
            ("siena", "unmodified"),
            *(("underlay-siena", repair) for repair in repairs(where)),
        )
    ]


def repairs(where: str) -> tuple[str, ...]:
    """Return the repairs of the underlay-aware tree that the points of Figure 5 have in a fault
    model.
    """
    return (*REPAIRS, "clients move") if where in BROKERS_FAIL else REPAIRS


def delivery_point(where: str, faults: int, system: str, repair: str, remedy: str) -> Point:
    """Return one experiment point of paper 5's Figure 5: the parameters of its runs under
    faults.
    """
    given = {**_OVERLAY, **_CONTENT, "events": EVENTS, "where": where, "faults": faults}
    given |= {"system": system, "repair": repair, "tau": TAU, "remedy": remedy}
    return Point(f"{_MODULE}:deliveries", given, NETWORK, 80.0 + 6.0 * faults)


def figure_5_interpretations(_scale: Scale) -> list[Point]:
    """Declare the points of Figure 5 [uas] under other interpretations, with Algorithm 1 as
    printed.
    """
    plain = [
        delivery_point(where, faults, "siena", "unmodified", "none")
        for where in BROKERS_FAIL
        for faults in FAULTS
    ]
    return plain + [
        open_point(where, faults, words)
        for words in OPEN
        for where in BROKERS_FAIL
        for faults in FAULTS
    ]


def open_point(where: str, faults: int, words: str) -> Point:
    """Return one experiment point of Figure 5 [uas] under an interpretation that `OPEN` names."""
    rules, late = OPEN[words]
    point = delivery_point(where, faults, "underlay-siena", REPAIRS[0], "none")
    given: dict[str, Scalar] = {**point.parameters, "reading": rules, "open": words}
    if late:
        given["detection"] = DETECTION
    return Point(point.measurement, given, NETWORK, point.cost_ms)


def network(_scale: Scale) -> list[Point]:
    """Declare the points of Figures 5 and 6 [uas] with losses and control messages."""
    return _lossy_deliveries() + _lossy_loads()


def _lossy_deliveries() -> list[Point]:
    points = [
        delivery_point(where, faults, system, repair, "none")
        for where in BROKERS_FAIL
        for faults in FAULTS
        for system, repair in (("siena", "unmodified"), ("underlay-siena", REPAIRS[0]))
    ]
    lossy = []
    for point in points:
        late = {"detection": DETECTION} if point.parameters["system"] != "siena" else {}
        for loss in LOSSES:
            parameters: dict[str, Scalar] = {**point.parameters, **late, "loss": loss}
            lossy.append(Point(point.measurement, parameters, NETWORK, point.cost_ms))
    return lossy


def _lossy_loads() -> list[Point]:
    points = [
        point
        for interest, window in MODELS
        for events in (EVENT_COUNTS[0], EVENTS)
        for point in _balanced(events, interest, window, "overlay", "none")
    ]
    return [
        Point(
            point.measurement,
            {
                **point.parameters,
                "loss": LOSSES[0],
                "ping_s": PING_S if point.parameters["system"] != "siena" else 0.0,
            },
            NETWORK,
            2 * point.cost_ms,
        )
        for point in points
    ]


def growth(_scale: Scale) -> list[Point]:
    """Declare the points for the work of Algorithm 1 [uas §4] in underlay-aware SIENA, by the
    number of brokers.
    """
    return [
        Point(f"{_MODULE}:growth", {"n": NODES, "brokers": brokers}, NETWORK, 12.0 * brokers)
        for brokers in GROWING
    ]


def figure_6(_scale: Scale) -> list[Point]:
    """Declare the points of Figure 6 [uas]: calm and rush by events, place of the queues, and
    interest.
    """
    queued: list[tuple[int, str, float, str]] = [
        (events, interest, window, "overlay")
        for events in EVENT_COUNTS
        for interest, window in MODELS
    ]
    queued += [(EVENTS, interest, RUSH_S, "underlay") for interest in INTERESTS]
    return [
        point
        for remedy in SYSTEM_REMEDIES
        for parameters in queued
        for point in _balanced(*parameters, remedy)
    ]


def figure_7(_scale: Scale) -> list[Point]:
    """Declare the points of Figures 7 and 8 [uas]: the runs in a rush, for the loads of links."""
    return [
        point
        for remedy in SYSTEM_REMEDIES
        for events in EVENT_COUNTS
        for interest in INTERESTS
        for point in _balanced(events, interest, RUSH_S, "overlay", remedy)
    ]


def _balanced(
    events: int, interest: str, window_s: float, queueing: str, remedy: str
) -> list[Point]:
    balanced = [("siena", "direct"), *(("underlay-siena", balance) for balance in BALANCES)]
    return [load_point(events, interest, window_s, queueing, *pair, remedy) for pair in balanced]


def load_point(
    events: int,
    interest: str,
    window_s: float,
    queueing: str,
    system: str,
    balance: str,
    remedy: str,
) -> Point:
    """Return one experiment point of paper 5's Figures 6 to 8: the parameters of its runs for
    latency and link loads.
    """
    parameters = {**_OVERLAY, **_CONTENT, "events": events, "interest": interest}
    parameters |= {"window_s": window_s, "queueing": queueing, "system": system, "balance": balance}
    parameters["remedy"] = remedy
    each_ms = 0.03 if interest == "all" else 0.01
    return Point(f"{_MODULE}:loads", parameters, NETWORK, 40.0 + events * each_ms)
