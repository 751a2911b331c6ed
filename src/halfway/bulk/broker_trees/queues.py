"""The paths of an overlay as queues in a row: what the load experiments of paper 5 drive over."""

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from halfway.bulk.broker_trees.overlay import NOBODY, Broker, Overlay
from halfway.problem import Problem
from halfway.world.underlays.routes import Rows

# Where messages queue. overlay: once an overlay link, whose "delay and bandwidth are calculated
# over the physical path" [uas §5] (sum and least); underlay: at every link of that path.
Queueing = Literal["overlay", "underlay"]
UP, DOWN = 0, 1  # directions: to the parent, from it
_DIRECT, _SECOND = 0, 2
WAYS = 4  # routes of a broker: 4 b + (direct up, direct down, second up, second down)

Doubles = npt.NDArray[np.float64]
Places = npt.NDArray[np.int64]


class Ways(NamedTuple):
    """Brokers by index (in order of number) with their routes, and the queues on each."""

    parent: Places  # [brokers] index; -1 at the root
    first: (
        Places  # [4 brokers + 1] route r passes the queues queue[first[r]:first[r+1]]; may be none
    )
    queue: Places
    service_s: Doubles  # [queues] seconds that a message occupies each
    delay_s: Doubles  # [queues] seconds that it then travels
    unloaded_s: Doubles  # [4 brokers] of a route whose queues are all empty


class Stress(NamedTuple):
    """Where the loads of routes fall: overlay links and links of the underlay, both undirected."""

    first_link: Places  # [4 brokers + 1]
    link: Places  # numbers of the overlay links on each route
    links: int  # overlay links, those without load (to grandparents) among them
    first_wire: Places  # [4 brokers + 1]
    wire: Places  # numbers of the underlay's links on each route
    wires: int
    used_wires: int  # under any overlay link


class _Leg(NamedTuple):
    ends: tuple[int, int, bool]  # brokers' numbers ascending; whether it is a path without broker
    rows: Rows


def ways(overlay: Overlay, *, aware: bool, queueing: Queueing, message_bits: float) -> Ways:
    """The queues of an overlay; only the direct paths unless it is `aware` of its underlay.

    Raises Problem for an unknown way of queueing.
    """
    if queueing not in get_args(Queueing):
        raise Problem(
            f"'{queueing}' is no queueing", remedy=f"one of {', '.join(get_args(Queueing))}"
        )
    numbers = sorted(overlay.brokers)
    index = {number: k for k, number in enumerate(numbers)}
    known: dict[bytes, int] = {}
    service: list[float] = []
    delay: list[float] = []
    routes: list[list[int]] = []
    for number in numbers:
        for legs in _routes(overlay, overlay[number], aware):
            routes.append(
                [
                    _numbered(known, service, delay, piece, overlay, message_bits)
                    for leg in legs
                    for piece in _pieces(leg, queueing)
                ]
            )
    first, queue = _compressed(routes)
    service_s, delay_s = np.array(service), np.array(delay)
    unloaded = np.array([sum(service_s[q] + delay_s[q] for q in some) for some in routes])
    parent = np.array([index.get(overlay[number].parent, -1) for number in numbers], np.int64)
    return Ways(parent, first, queue, service_s, delay_s, unloaded)


def stress(overlay: Overlay, *, aware: bool) -> Stress:
    """Which links the routes of `ways` load."""
    links: dict[tuple[int, int, bool], int] = {}
    wired: list[list[int]] = []
    linked: list[list[int]] = []
    for number in sorted(overlay.brokers):
        for legs in _routes(overlay, overlay[number], aware):
            linked.append([links.setdefault(leg.ends, len(links)) for leg in legs])
            wired.append([wire for leg in legs for wire in _wires(overlay, leg.rows)])
    used = {wire for some in wired for wire in some}
    if aware:
        for number, broker in overlay.brokers.items():
            # [uas Fig. 2] the link to the grandparent is there, and idle until it is needed.
            if broker.upper is not None:
                links.setdefault((*_sorted(number, broker.grandparent), False), len(links))
                used.update(_wires(overlay, broker.upper.rows))
    first_link, link = _compressed(linked)
    first_wire, wire = _compressed(wired)
    wires = overlay.underlay.network.links
    return Stress(first_link, link, len(links), first_wire, wire, wires, len(used))


def _routes(overlay: Overlay, broker: Broker, aware: bool) -> list[list[_Leg]]:
    """The four routes of a broker as overlay links; [] where there is none."""
    found: list[list[_Leg]] = [[], [], [], []]
    if broker.direct is not None:
        ends = (*_sorted(broker.number, broker.parent), False)
        found[_DIRECT] = [_Leg(ends, broker.direct.rows)]
    if aware and broker.second is not None:
        rows, bend = broker.second.rows, broker.bend
        if broker.alternate == NOBODY:
            found[_SECOND] = [_Leg((*_sorted(broker.number, broker.parent), True), rows)]
        else:
            one = (*_sorted(broker.number, broker.alternate), False)
            two = (*_sorted(broker.alternate, broker.parent), False)
            found[_SECOND] = [_Leg(one, rows[: bend + 1]), _Leg(two, rows[bend:])]
    for way in (_DIRECT, _SECOND):
        found[way + DOWN] = [_Leg(leg.ends, leg.rows[::-1].copy()) for leg in found[way][::-1]]
    return found


def _sorted(a: int, b: int) -> tuple[int, int]:
    return (a, b) if a < b else (b, a)


def _pieces(leg: _Leg, queueing: Queueing) -> list[Rows]:
    if queueing == "overlay":
        return [leg.rows]
    return [leg.rows[k : k + 2] for k in range(len(leg.rows) - 1)]


def _numbered(
    known: dict[bytes, int],
    service: list[float],
    delay: list[float],
    rows: Rows,
    overlay: Overlay,
    message_bits: float,
) -> int:
    """The number of the queue before a path; a path met before keeps its number."""
    key = rows.tobytes()
    if key not in known:
        route = overlay.route(rows)
        assert route is not None
        known[key] = len(service)
        service.append(message_bits / float(overlay.underlay.bandwidth_bps[route.places].min()))
        delay.append(float(overlay.underlay.delay_s[route.places].sum()))
    return known[key]


def _wires(overlay: Overlay, rows: Rows) -> list[int]:
    route = overlay.route(rows)
    assert route is not None
    return overlay.underlay.link[route.places].tolist()  # type: ignore[no-any-return]


def _compressed(lists: list[list[int]]) -> tuple[Places, Places]:
    first = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return first, np.array([value for some in lists for value in some], np.int64)
