"""The queues on the paths of a bulk overlay, for the load experiments of paper 5."""

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from halfway.bulk.broker_trees.broker_overlay import NO_BROKER, Broker, Overlay, check_known
from halfway.world.underlays.routes import Rows, places_on

# Where messages queue. overlay: once per overlay link, whose "delay and bandwidth are calculated
# over the physical path" [uas §5] (sum and least); underlay: at every link of that path.
Queueing = Literal["overlay", "underlay"]
UP, DOWN = 0, 1  # directions: to the parent, from the parent
_DIRECT, _SECOND = 0, 2
ROUTES = 4  # routes of a broker: 4 b + (direct up, direct down, second up, second down)

Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class QueuedPaths(NamedTuple):
    """The queues on the routes of a bulk overlay's brokers; the index of a broker follows the order
    of numbers.
    """

    parent: Indices  # [brokers] index; -1 at the root
    first: Indices  # [4 brokers + 1] route r passes queue[first[r]:first[r+1]]
    queue: Indices
    service_s: Doubles  # [queues] seconds that a message occupies the queue
    delay_s: Doubles  # [queues] seconds of travel after the queue
    hops: Indices  # [queues] underlay links that a message passes in this queue
    unloaded_s: Doubles  # [4 brokers] seconds of a route whose queues are empty


class Stress(NamedTuple):
    """The undirected links that each queued route loads, in the overlay and in the underlay."""

    first_link: Indices  # [4 brokers + 1]
    link: Indices  # numbers of the overlay links on each route
    links: int  # overlay links, including those without load (to grandparents)
    first_wire: Indices  # [4 brokers + 1]
    wire: Indices  # numbers of the underlay's links on each route
    wires: int
    used_wires: int  # under any overlay link


class _Leg(NamedTuple):
    ends: tuple[int, int, bool]  # numbers of brokers, ascending; whether without an alternate
    rows: Rows


def queued_paths(
    overlay: Overlay, *, aware: bool, queueing: Queueing, message_bits: float
) -> QueuedPaths:
    """Return the queues on the paths of a bulk overlay; without `aware`, on direct paths only.

    Raises Problem for an unknown `queueing`.
    """
    check_known("queueing", queueing, get_args(Queueing))
    underlay, numbers = overlay.underlay, sorted(overlay.brokers)
    index = {number: k for k, number in enumerate(numbers)}
    known: dict[bytes, int] = {}
    service: list[float] = []
    delay: list[float] = []
    hops: list[int] = []

    def queue_before(rows: Rows) -> int:
        """Return the number of the queue before a path of the bulk overlay; a known path keeps its
        number.
        """
        key = rows.tobytes()
        if key not in known:
            places = places_on(underlay.network, rows)
            known[key] = len(service)
            service.append(message_bits / float(underlay.bandwidth_bps[places].min()))
            delay.append(float(underlay.delay_s[places].sum()))
            hops.append(len(places))
        return known[key]

    routes = [
        [queue_before(piece) for leg in legs for piece in _pieces(leg, queueing)]
        for number in numbers
        for legs in _routes(overlay[number], aware)
    ]
    first, queue = _compressed(routes)
    service_s, delay_s = np.array(service), np.array(delay)
    unloaded = np.array([sum(service_s[q] + delay_s[q] for q in route) for route in routes])
    parent = np.array([index.get(overlay[number].parent, -1) for number in numbers], np.int64)
    passed = np.array(hops, np.int64)
    return QueuedPaths(parent, first, queue, service_s, delay_s, passed, unloaded)


def stress(overlay: Overlay, *, aware: bool) -> Stress:
    """Return the links of overlay and underlay that the queued routes of `queued_paths` load."""
    links: dict[tuple[int, int, bool], int] = {}
    wired: list[list[int]] = []
    linked: list[list[int]] = []
    for number in sorted(overlay.brokers):
        for legs in _routes(overlay[number], aware):
            linked.append([links.setdefault(leg.ends, len(links)) for leg in legs])
            wired.append([wire for leg in legs for wire in _wires(overlay, leg.rows)])
    used = {wire for wires_of_path in wired for wire in wires_of_path}
    if aware:
        for number, broker in overlay.brokers.items():
            # [uas Fig. 2] the link to the grandparent exists, and is idle until it is needed.
            if broker.upper is not None:
                links.setdefault((*_sorted(number, broker.grandparent), False), len(links))
                used.update(_wires(overlay, broker.upper.rows))
    first_link, link = _compressed(linked)
    first_wire, wire = _compressed(wired)
    wires = overlay.underlay.network.links
    return Stress(first_link, link, len(links), first_wire, wire, wires, len(used))


def _routes(broker: Broker, aware: bool) -> list[list[_Leg]]:
    """Return the four queued routes of a broker as overlay links; [] stands for a missing route."""
    legs: list[list[_Leg]] = [[], [], [], []]
    if broker.direct is not None:
        ends = (*_sorted(broker.number, broker.parent), False)
        legs[_DIRECT] = [_Leg(ends, broker.direct.rows)]
    if aware and broker.second is not None:
        rows, bend = broker.second.rows, broker.bend
        if broker.alternate == NO_BROKER:
            legs[_SECOND] = [_Leg((*_sorted(broker.number, broker.parent), True), rows)]
        else:
            link = (*_sorted(broker.number, broker.alternate), False)
            two = (*_sorted(broker.alternate, broker.parent), False)
            legs[_SECOND] = [_Leg(link, rows[: bend + 1]), _Leg(two, rows[bend:])]
    for half in (_DIRECT, _SECOND):
        legs[half + DOWN] = [_Leg(leg.ends, leg.rows[::-1].copy()) for leg in legs[half][::-1]]
    return legs


def _sorted(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _pieces(leg: _Leg, queueing: Queueing) -> list[Rows]:
    if queueing == "overlay":
        return [leg.rows]
    return [leg.rows[k : k + 2] for k in range(len(leg.rows) - 1)]


def _wires(overlay: Overlay, rows: Rows) -> list[int]:
    places = places_on(overlay.underlay.network, rows)
    links: list[int] = overlay.underlay.link[places].tolist()
    return links


def _compressed(lists: list[list[int]]) -> tuple[Indices, Indices]:
    first = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return first, np.array([value for some in lists for value in some], np.int64)
