"""The number interval workload of DRIP: events are numbers, subscriptions are intervals.

After Huang & Garcia-Molina (MDM 2003) as Yuan & Wu 2009 use it. Topic v means the number v+1.
[Yuan & Wu 2009, §VI-A] "we determine whether a node in the network detects the event based on its
detecting abilities": each node on its own, or one node.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed, pick, seeded, uniform
from halfway.problem import Problem
from halfway.world.workload.arrivals import gap_before
from halfway.world.workload.demand import Publications
from halfway.world.workload.named_roles import BrokerPeriod, Period

_CAPABILITY, _SUBSCRIBER, _EVENT = 0x41, 0x42, 0x43  # ids of random streams
_MOST = 1 << 30  # events of a run


@dataclass
class NumberIntervals:
    """Demand with number intervals; events are a Poisson process, detected by capability.

    Each node subscribes with probability `share` to one interval, clipped to 1…numbers. Its centre
    is uniform, and its length normal with the mean `length` and `variance` (a sum of twelve
    uniforms). An event's number is uniform. The one node that detects it is drawn in proportion to
    its capability, 1 / rank for a random ranking: a power law. Raises Problem for bad values.
    """

    n: int
    rate: float = 0.8  # events a second
    start_s: float = 0.0
    end_s: float = 500.0
    share: float = 0.5
    numbers: int = 100
    length: float = 5.0
    variance: float = 2.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.n < 2**31 or not 1 <= self.numbers <= 1_000_000:
            raise Problem(f"n = {self.n}, numbers = {self.numbers}: expected at least 1")
        if not 0.0 < self.rate < 1e9 or not 0.0 <= self.share <= 1.0:
            what = f"rate = {self.rate:g}, share = {self.share:g}"
            raise Problem(f"{what}: expected a positive rate and a share from 0 to 1")
        if not (self.length >= 0.0 and self.variance >= 0.0):
            what = f"length = {self.length:g}, variance = {self.variance:g}"
            raise Problem(f"{what}: expected numbers of 0 or more")
        self.topics, self.has_payloads = self.numbers, False
        self.periods: Mapping[tuple[int, int], Period] = {}
        self.publishing_periods: Mapping[tuple[int, int], Period] = {}
        self.brokers: tuple[BrokerPeriod, ...] = ()
        self.shape: tuple[int, ...] = ()
        self.capability = power_law(self.n, self.seed)
        self._upto = np.cumsum(self.capability)
        self.low, self.high = _intervals(self)
        self.publishers = [np.arange(self.n, dtype=np.int32)] * self.topics
        self.subscribers = [
            np.flatnonzero((self.low <= v) & (v <= self.high)).astype(np.int32)
            for v in range(self.topics)
        ]
        self._taken, self._due = 0, self.start_s + self._gap(0)

    def _gap(self, event: int) -> float:
        return float(gap_before(np.uint64(self.seed), _EVENT + 1, event, 1.0 / self.rate))

    def next_at(self) -> float:
        """Return the time of the next publication in a number interval workload, in seconds, or inf
        after the last.
        """
        return self._due if self._due < self.end_s else np.inf

    def next_publications(self, until: float, most: int) -> Publications:
        """Return the next numbers that a number interval workload publishes before `until` (s), at
        most `most`; each once.
        """
        first, t = self._taken, list[float]()
        while len(t) < most and self.next_at() < until:
            t.append(self._due)
            self._taken += 1
            self._due += self._gap(self._taken)
        event = np.arange(first, self._taken, dtype=np.int32)
        topic, lot = np.empty_like(event), np.empty(len(event))
        _draw_events(np.uint64(self.seed), event, self.numbers, topic, lot)
        row = np.searchsorted(self._upto, lot * self._upto[-1], side="right").astype(np.int32)
        return Publications(np.array(t), np.minimum(row, np.int32(self.n - 1)), topic, event)

    def begun_again(self) -> "NumberIntervals":
        """Return the same number interval workload before its first publication."""
        return replace(self)


@dataclass
class IndependentDetection(NumberIntervals):
    """Demand with number intervals, whose events several nodes may detect.

    A node detects an event with its capability as the probability, so that the most capable node
    detects all. Each detection is a publication; all detections of one event have the same time.
    Raises Problem for bad values.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        happened = NumberIntervals(**values).next_publications(np.inf, _MOST)
        drawn = np.random.default_rng(self.seed).random((len(happened.t), self.n))
        which, row = np.nonzero(drawn < self.capability)
        self._all = Publications(
            happened.t[which],
            row.astype(np.int32),
            happened.topic[which],
            np.arange(len(which), dtype=np.int32),
        )
        self._published = 0

    def next_at(self) -> float:
        """Return the time of the next independent detection in a number interval workload, in
        seconds, or inf after the last.
        """
        left = self._all.t[self._published :]
        return float(left[0]) if len(left) else np.inf

    def next_publications(self, until: float, most: int) -> Publications:
        """Return the next independent detections in a number interval workload before `until` (s),
        at most `most`; each once.
        """
        first = self._published
        due = int(np.searchsorted(self._all.t, until))
        self._published = max(first, min(due, first + most))
        t, row, topic, event, _ = self._all
        taken = slice(first, self._published)
        return Publications(t[taken], row[taken], topic[taken], event[taken])


def power_law(n: int, seed: int) -> npt.NDArray[np.float64]:
    """Return the capabilities of nodes in a number interval workload: 1, 1/2, … 1/n, shuffled [n]:
    a power law without rounding.
    """
    lot = np.empty(n, np.uint64)
    _lots(np.uint64(seed), lot)
    capability = np.empty(n)
    capability[np.argsort(lot, kind="stable")] = 1.0 / np.arange(1, n + 1)
    return capability


def _intervals(of: NumberIntervals) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int32]]:
    """Return the first and last topic of each node's number interval, [n] each. An empty interval
    has last < first.
    """
    drawn = np.empty((of.n, 3))
    _draw_subscribers(np.uint64(of.seed), drawn)
    centre = 1.0 + drawn[:, 1] * (of.numbers - 1)
    half = np.maximum(of.length + np.sqrt(of.variance) * drawn[:, 2], 0.0) / 2.0
    low = np.maximum(np.ceil(centre - half), 1.0).astype(np.int32) - 1
    high = np.minimum(np.floor(centre + half), of.numbers).astype(np.int32) - 1
    none = (drawn[:, 0] >= of.share) | (high < low)
    return np.where(none, 0, low).astype(np.int32), np.where(none, -1, high).astype(np.int32)


@kernel
def _lots(seed, lot):
    for i in range(lot.shape[0]):
        lot[i] = mixed(advanced(seeded(seeded(seed, _CAPABILITY), i)))


@kernel
def _draw_subscribers(seed, drawn):
    for i in range(drawn.shape[0]):
        word = seeded(seeded(seed, _SUBSCRIBER), i)
        for part in range(2):
            word = advanced(word)
            drawn[i, part] = uniform(mixed(word))
        bell = -6.0
        for _ in range(12):
            word = advanced(word)
            bell += uniform(mixed(word))
        drawn[i, 2] = bell


@kernel
def _draw_events(seed, event, numbers, topic, lot):
    for k in range(event.shape[0]):
        word = advanced(seeded(seeded(seed, _EVENT), event[k]))
        topic[k] = pick(mixed(word), numbers)
        lot[k] = uniform(mixed(advanced(word)))
