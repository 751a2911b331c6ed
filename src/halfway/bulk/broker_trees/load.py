"""The load of a bulk broker tree [uas Figs. 6-8]: events pass queues, and load the links."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.bulk.broker_trees.broker_overlay import check_known
from halfway.bulk.broker_trees.disturbances import Disturbances, comes_through, disturbances
from halfway.bulk.broker_trees.queues import DOWN, ROUTES, UP, Indices, QueuedPaths, Stress
from halfway.core.borrowed import borrowed
from halfway.core.compiled import inlined, kernel
from halfway.problem import Problem
from halfway.protocols.broker_trees.paths.decisions import ALL_DIRECT, BALANCES, DIRECT, balanced
from halfway.world.underlays.routes import popped, risen
from halfway.world.workload.content import Content

_KILOBYTE = 1000.0
_u4 = np.uint32


class Passage(NamedTuple):
    """The passage of a run's events through a loaded broker tree: latency and messages."""

    latency_s: float  # mean over notifications, from publishing to the client's broker
    notifications: int
    uses: Indices  # [4 brokers] messages on each route


class Loads(NamedTuple):
    """The loads of links by a passage of events: mean and standard deviation, in kilobytes (1,000
    bytes).
    """

    overlay_mean: float
    overlay_deviation: float
    used_mean: float  # over links of the underlay under any overlay link
    used_deviation: float
    all_mean: float  # over all links of the underlay
    all_deviation: float


class _Flight(NamedTuple):
    """The messages in flight during a passage of events through a queued broker tree, by slot."""

    event: npt.NDArray[np.int64]  # [slots]
    route: npt.NDArray[np.int64]  # [slots]
    passed: npt.NDArray[np.int64]  # [slots] queues of the route passed so far
    key: npt.NDArray[np.float64]  # [slots + 1] the heap: times …
    slot: npt.NDArray[np.int32]  # [slots + 1] … and slots
    free: npt.NDArray[np.int32]  # [slots] a stack of the free slots


def passage(
    paths: QueuedPaths,
    content: Content,
    balance: str,
    window_s: float,
    disturbed: Disturbances | None = None,
) -> Passage:
    """Send every event of a workload through the loaded broker tree, within `window_s` seconds.

    [Carzaniga et al. 2001, §4.2] an event goes up to the root, and down to brokers with matching
    clients below. Brokers forward without delay. disturbed: control messages and losses; a message
    that is lost reaches no client behind it. Raises Problem for an unknown balance and a
    window that is not positive.
    """
    check_known("balance", balance, BALANCES)
    if not 0 < window_s < np.inf:
        raise Problem(f"window_s = {window_s}: expected a positive, finite number")
    below = wanted_below(paths.parent, content.wanted)
    child = np.argsort(paths.parent, kind="stable")
    first_child = np.searchsorted(paths.parent[child], np.arange(len(child) + 1))
    slots = 1 << 12
    disturbed = disturbances(paths, window_s) if disturbed is None else disturbed
    disturbed = disturbed._replace(at=np.append(disturbed.at, np.inf))
    times, first_state = np.append(content.at * window_s, np.inf), disturbed.random_state.copy()
    while True:
        disturbed.random_state[:] = first_state
        uses = np.zeros(len(paths.unloaded_s), np.int64)
        flight = _Flight(
            np.zeros(slots, np.int64), np.zeros(slots, np.int64), np.zeros(slots, np.int64),
            np.empty(slots + 1), np.empty(slots + 1, np.int32), np.arange(slots, dtype=np.int32),
        )  # fmt: skip
        total, count, full = _drive(
            paths, first_child, child, times, content.publisher, content.wanted,
            below, BALANCES.index(balance), flight, uses, disturbed,
        )  # fmt: skip
        if not full:
            return Passage(total / max(count, 1), int(count), uses)
        slots *= 4


def wanted_below(parent: Indices, wanted: Indices) -> npt.NDArray[np.bool_]:
    """Return [events, brokers]: True if a client at a broker of the loaded tree, or below this
    broker, wants the event, so that it loads the way there.
    """
    own = wanted > 0
    below = own.copy()
    for broker in range(len(parent)):
        above = parent[broker]
        while above >= 0:
            below[:, above] |= own[:, broker]
            above = parent[above]
    return below


def loads(passed: Passage, on: Stress, message_bytes: float) -> Loads:
    """Return the link loads of the overlay and the underlay after a passage of events."""
    link = _carried(passed.uses, on.first_link, on.link, on.links) * message_bytes / _KILOBYTE
    wire = _carried(passed.uses, on.first_wire, on.wire, on.wires) * message_bytes / _KILOBYTE
    # Unused links have no load, so that sums need no list of the used ones.
    used_mean = wire.sum() / on.used_wires
    used_square = (wire * wire).sum() / on.used_wires
    return Loads(
        float(link.mean()),
        float(link.std()),
        float(used_mean),
        float(np.sqrt(max(used_square - used_mean * used_mean, 0.0))),
        float(wire.mean()),
        float(wire.std()),
    )


def _carried(uses: Indices, first: Indices, which: Indices, many: int) -> npt.NDArray[np.float64]:
    return np.bincount(which, np.repeat(uses, np.diff(first)), many).astype(np.float64)


@inlined
def _wait(free_at, paths, route, now):
    ready = free_at[paths.queue[paths.first[route]]]
    return max(ready - now, 0.0)


@inlined
def _chosen(paths, broker, direction, balance, turn, free_at, now):
    # The route of a message between a broker and its parent.
    direct = ROUTES * broker + direction
    second = direct + 2
    if balance == ALL_DIRECT or paths.first[second] == paths.first[second + 1]:
        return direct
    path = balanced(
        balance,
        turn[direct],
        _wait(free_at, paths, direct, now),
        _wait(free_at, paths, second, now),
        paths.unloaded_s[direct],
        paths.unloaded_s[second],
    )
    turn[direct] ^= 1
    return direct if path == DIRECT else second


@inlined
def _enqueued(paths, flight, free_at, slot, now, count):
    # The message enters the next queue of its route; the heap has the time when it leaves this
    # queue.
    q = paths.queue[paths.first[flight.route[slot]] + flight.passed[slot]]
    begun = max(now, free_at[q])
    free_at[q] = begun + paths.service_s[q]
    flight.passed[slot] += 1
    risen(flight.key, flight.slot, _u4(count), free_at[q] + paths.delay_s[q], np.int32(slot))
    return count + 1


@inlined
def _launched(paths, flight, free_at, e, route, now, count, free):
    # A message begins its route; it takes a free slot.
    slot = np.int64(flight.free[free - 1])
    flight.event[slot], flight.route[slot], flight.passed[slot] = e, route, 0
    return _enqueued(paths, flight, free_at, slot, now, count), free - 1


@inlined
def _ends(paths, flight, disturbed, slot):
    # Whether a message that leaves a queue is at its end, or lost (then its event is -1).
    place = paths.first[flight.route[slot]] + flight.passed[slot]
    if not comes_through(disturbed, paths.queue[place - 1]):
        flight.event[slot] = -1
        return True
    return place == paths.first[flight.route[slot] + 1]


@inlined
def _arrived(parent, flight, slot):
    # The event of a message at the end of its route, the broker that it reaches, and its sender.
    broker = flight.route[slot] // ROUTES
    if flight.route[slot] % 2 == UP:
        return flight.event[slot], parent[broker], broker
    return flight.event[slot], broker, parent[broker]


@inlined
def _target(parent, first_child, child, below, e, here, source, c):
    # The broker whose link the event takes next, or -1 for no link, and the direction. c: index of
    # the child; before the first child, the link to the parent.
    if c < first_child[here]:
        return (here if parent[here] >= 0 and parent[here] != source else np.int64(-1)), UP
    to = np.int64(child[c])
    return (to if to != source and below[e, to] else np.int64(-1)), DOWN


@kernel
def _drive(
    paths, first_child, child, at, publisher, wanted, below, balance, flight, uses, disturbed
):
    # Returns the sum of latencies, the number of notifications, and whether the slots were too few.
    # The times of events and of control messages end with inf.
    paths, flight, disturbed = borrowed(paths), borrowed(flight), borrowed(disturbed)
    parent = paths.parent
    slots = flight.free.shape[0]
    free_at = np.zeros(paths.service_s.shape[0])
    turn = np.zeros(uses.shape[0], np.uint8)
    total, notified, count, free, event, control = 0.0, 0, 0, slots, 0, 0
    while True:
        # A broker is reached: by an event of its own, or by a message that leaves a queue.
        due, control_at = flight.key[0] if count > 0 else np.inf, disturbed.at[control]
        if at[event] <= due and at[event] <= control_at:
            if at[event] == np.inf:
                return total, notified, False
            now, e, here, source = at[event], event, publisher[event], -1
            event += 1
        elif control_at <= due:
            if free == 0:
                return total, notified, True
            route = disturbed.route[control]
            count, free = _launched(paths, flight, free_at, -1, route, control_at, count, free)
            control += 1
            continue
        else:
            now, slot = flight.key[0], np.int64(flight.slot[0])
            count -= 1
            popped(flight.key, flight.slot, _u4(count))
            if not _ends(paths, flight, disturbed, slot):
                count = _enqueued(paths, flight, free_at, slot, now, count)
                continue
            flight.free[free] = slot
            free += 1
            if flight.event[slot] < 0:
                continue
            e, here, source = _arrived(parent, flight, slot)
        total += wanted[e, here] * (now - at[e])
        notified += wanted[e, here]
        if free <= first_child[here + 1] - first_child[here]:
            return total, notified, True
        for c in range(first_child[here] - 1, first_child[here + 1]):
            to, direction = _target(parent, first_child, child, below, e, here, source, c)
            if to < 0:
                continue
            route = _chosen(paths, to, direction, balance, turn, free_at, now)
            uses[route] += 1
            count, free = _launched(paths, flight, free_at, e, route, now, count, free)
