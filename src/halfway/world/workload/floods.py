"""The demand of a run with floods: attackers publish many events beside the events of a demand."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed, seeded, uniform
from halfway.problem import Problem
from halfway.world.attacks import Attack
from halfway.world.faults import Fault
from halfway.world.outages import FLOOD_BEGINS, FaultEvents
from halfway.world.workload.demand import Demand, Drawn, Listed, Publications
from halfway.world.workload.named_roles import LINGER_S, Period

NOT_COUNTED = -1  # the number in the run of an attacker's event, which no metric counts
_MOST_EVENTS = 10_000_000  # of all floods of a run


class Floods(NamedTuple):
    """The floods of a run, one entry for each time in which a node attacks."""

    row: npt.NDArray[np.int32]
    topic: npt.NDArray[np.int32]
    begin: npt.NDArray[np.float64]  # seconds
    end: npt.NDArray[np.float64]  # seconds; inf: the end of the run
    every_s: npt.NDArray[np.float64]  # seconds between two events
    phase: npt.NDArray[np.float64]  # time from the beginning to the first event, in every_s


class FloodedDemand:
    """A demand with floods. An event of an attacker has the number NOT_COUNTED, and all other
    events have the numbers of the demand.

    An attacker is a publisher of its topic during the attack. Raises Problem for too many events.
    """

    def __init__(self, base: Drawn | Listed, floods: Floods, seconds: float) -> None:
        self.base, self._floods, self._seconds = base, floods, seconds
        self.topics, self.shape, self.brokers = base.topics, base.shape, base.brokers
        self.periods, self.has_payloads = base.periods, base.has_payloads
        self.subscribers = base.subscribers
        self.publishers = [
            np.union1d(rows, floods.row[floods.topic == topic]).astype(np.int32)
            for topic, rows in enumerate(base.publishers)
        ]
        self.publishing_periods: Mapping[tuple[int, int], Period] = self._publishing_periods()
        self._t, self._row, self._topic = _publications(floods, seconds)
        self._taken = 0
        self._waiting = base.next_publications(0.0, 0)  # taken from the base, not yet returned

    def _publishing_periods(self) -> dict[tuple[int, int], Period]:
        periods = dict(self.base.publishing_periods)
        honest = [set(rows.tolist()) for rows in self.base.publishers]
        columns = (column.tolist() for column in self._floods[:4])
        for row, topic, begin, end in zip(*columns, strict=True):
            first, last = periods.get((row, topic), (begin, end + LINGER_S))
            if row not in honest[topic] or (row, topic) in periods:
                periods[row, topic] = min(first, begin), max(last, end + LINGER_S)
        return periods

    def next_at(self) -> float:
        """Return the time of the next publication of a flooded demand in seconds, or inf after the
        last.
        """
        waiting = float(self._waiting.t[0]) if len(self._waiting.t) else np.inf
        own = float(self._t[self._taken]) if self._taken < len(self._t) else np.inf
        return min(waiting, own, self.base.next_at())

    def next_publications(self, until: float, most: int) -> Publications:
        """Return at most `most` publications of a flooded demand before `until` (seconds). No later
        call returns them again.
        """
        more = self.base.next_publications(until, max(most - len(self._waiting.t), 0))
        honest = _joined(self._waiting, more)
        last = int(np.searchsorted(self._t, until, side="left"))
        taken_now = slice(self._taken, min(last, self._taken + most))
        count = taken_now.stop - taken_now.start
        size = None if honest.size is None else np.zeros(count, np.int64)
        number = np.full(count, NOT_COUNTED, np.int32)
        own = Publications(
            self._t[taken_now], self._row[taken_now], self._topic[taken_now], number, size
        )
        together = _joined(honest, own)
        order = np.argsort(together.t, kind="stable")
        order = order[: min(int((together.t < until).sum()), most)]
        taken = int((order < len(honest.t)).sum())
        self._waiting = _part(honest, slice(taken, None))
        self._taken += len(order) - taken
        return _part(together, order)

    def begun_again(self) -> "FloodedDemand":
        """Return the same flooded demand before its first publication."""
        return FloodedDemand(self.base.begun_again(), self._floods, self._seconds)


def has_floods(faults: Sequence[Fault]) -> bool:
    """Return whether faults declare a flood, so that the demand of a run changes."""
    return any(isinstance(fault, Attack) and fault.kind == "flood" for fault in faults)


def with_floods(
    demand: Demand, faults: Sequence[Fault], drawn: FaultEvents, seed: int, seconds: float
) -> FloodedDemand:
    """Return a demand with the floods that faults declare.

    drawn: all events of the faults. seed: the seed of the faults. Raises Problem if the workload
    has no topics with publishers.
    """
    if not isinstance(demand, Drawn | Listed):
        what = "faults: kind = flood: expected a workload with topics and publishers"
        raise Problem(what, remedy="remove this fault, or use another workload")
    return FloodedDemand(demand, _floods(demand, faults, drawn, seed, seconds), seconds)


def _floods(
    demand: Drawn | Listed, faults: Sequence[Fault], drawn: FaultEvents, seed: int, seconds: float
) -> Floods:
    """Return the floods that faults declare; the topic and the phase of each attacker are drawn by
    its row.
    """
    begins, ends = drawn.kind == FLOOD_BEGINS, drawn.kind == FLOOD_BEGINS + 1
    row, fault, begin = drawn.a[begins], drawn.b[begins], drawn.t[begins]
    end = np.full(len(row), np.inf)
    for k in np.flatnonzero(ends).tolist():
        mine = (row == drawn.a[k]) & (fault == drawn.b[k]) & (begin <= drawn.t[k])
        end[np.flatnonzero(mine)[-1]] = drawn.t[k]
    lot = np.empty((len(row), 2))
    _draw_lots(np.uint64(seed), row, lot)
    wanted = [topic for topic, rows in enumerate(demand.subscribers) if len(rows)]
    topic = np.array(wanted or [0], np.int32)[(lot[:, 0] * max(len(wanted), 1)).astype(np.int64)]
    every: list[Any] = [getattr(faults[k], "every_s", 1.0) for k in fault.tolist()]
    every_s = np.array(every, np.float64)
    if len(row) and float(((np.minimum(end, seconds) - begin) / every_s).sum()) > _MOST_EVENTS:
        what = f"every_s = {every_s.min():g}: expected at most {_MOST_EVENTS:,} events of attackers"
        raise Problem(what, where="faults", remedy="use a longer every_s")
    return Floods(row, topic, begin, end, every_s, lot[:, 1])


def _publications(
    floods: Floods, seconds: float
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return time, row and topic of each event of the floods, in the order of time."""
    times = [
        np.arange(begin + phase * every_s, min(end, seconds), every_s)
        for _, _, begin, end, every_s, phase in zip(*floods, strict=True)
    ]
    count = np.array([len(of_flood) for of_flood in times], np.int64)
    t = np.concatenate([np.zeros(0), *times])
    order = np.argsort(t, kind="stable")
    row, topic = np.repeat(floods.row, count), np.repeat(floods.topic, count)
    return t[order], row[order], topic[order]


def _part(of: Publications, which: Any) -> Publications:
    parts: list[Any] = [None if column is None else column[which] for column in of]
    return Publications(*parts)


def _joined(first: Publications, second: Publications) -> Publications:
    joined: list[Any] = [
        None if one is None or two is None else np.concatenate((one, two))
        for one, two in zip(first, second, strict=True)
    ]
    return Publications(*joined)


@kernel
def _draw_lots(seed, row, lot):
    for k in range(row.shape[0]):
        word = advanced(seeded(seeded(seed, 0xF100D), row[k]))
        lot[k, 0] = uniform(mixed(word))
        lot[k, 1] = uniform(mixed(advanced(word)))
