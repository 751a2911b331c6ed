"""Who wants what and who publishes when: given as lists, or drawn and told window by window."""

from dataclasses import dataclass
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed, pick, seeded
from halfway.problem import Problem
from halfway.world.outages import exponential

_WHO, _WHEN = 0x3A0, 0x3B0  # names of the dice that draw roles, and publications
_LARGEST = 1e100


class Publications(NamedTuple):
    """Events in order of time; ids ascend from 0 over a whole run."""

    t: npt.NDArray[np.float64]  # [events] seconds
    row: npt.NDArray[np.int32]  # [events] who publishes
    topic: npt.NDArray[np.int32]  # [events]
    event: npt.NDArray[np.int32]  # [events] ids


class Demand(Protocol):
    """What applications ask of a network. Subscriptions stand from the beginning of a run."""

    topics: int
    publishers: list[npt.NDArray[np.int32]]  # topic -> rows that may publish on it, ascending
    subscribers: list[npt.NDArray[np.int32]]  # topic -> rows that want it, ascending

    def take(self, until: float, most: int) -> Publications:
        """The next publications before a time, `most` at the most; each is told once."""
        ...

    def next_at(self) -> float:
        """When the next publication is due; inf when there is none."""
        ...

    def begun_again(self) -> "Demand":
        """The same demand with nothing told yet."""
        ...


@dataclass
class Listed:
    """A demand given as lists.

    subscriptions: (row, topic) pairs; publications: (seconds, row, topic), in any order.
    Raises Problem for a topic or row below 0, and for a time that is none.
    """

    subscriptions: list[tuple[int, int]]
    publications: list[tuple[float, int, int]]

    def __post_init__(self) -> None:
        for row, topic in [*self.subscriptions, *((row, of) for _, row, of in self.publications)]:
            if row < 0 or topic < 0:
                raise Problem(f"row {row}, topic {topic}: both must be 0 or more")
        for t, row, _ in self.publications:
            if not 0.0 <= t < _LARGEST:
                raise Problem(f"row {row} publishes at {t} s: it must be 0 or more, and finite")
        wanted = [topic for _, topic in self.subscriptions]
        self.topics = 1 + max([*wanted, *(of for _, _, of in self.publications)], default=0)
        self.subscribers = _rows_by_topic(self.topics, self.subscriptions)
        self.publishers = _rows_by_topic(self.topics, [(r, of) for _, r, of in self.publications])
        self._ordered = sorted(self.publications, key=lambda one: one[0])
        self._told = 0

    def next_at(self) -> float:
        """When the next publication is due; inf when there is none."""
        return self._ordered[self._told][0] if self._told < len(self._ordered) else np.inf

    def take(self, until: float, most: int) -> Publications:
        """The next publications before a time, `most` at the most; each is told once."""
        first = self._told
        while self._told - first < most and self.next_at() < until:
            self._told += 1
        some = self._ordered[first : self._told]
        return Publications(
            np.array([t for t, _, _ in some], np.float64),
            np.array([row for _, row, _ in some], np.int32),
            np.array([topic for _, _, topic in some], np.int32),
            np.arange(first, self._told, dtype=np.int32),
        )

    def begun_again(self) -> "Listed":
        """The same demand with nothing told yet."""
        return Listed(self.subscriptions, self.publications)


@dataclass
class Drawn:
    """Roles and publications drawn by a seed; nothing is kept per event, however long it goes on.

    For each topic `publishers` rows and `subscribers` others, all distinct, uniform among n. Each
    event has a uniform topic and a uniform publisher of it. arrivals="regular": event k at
    start_s + k x every_s; "poisson": exponential gaps with the mean every_s from start_s on.
    width: content rather than topics; a topic is a number then, and its subscribers want so many
    neighbouring numbers, from it on (or the last ones that there are).
    Dice are named by (seed, topic) and (seed, event). Raises Problem naming value and range.
    """

    n: int
    topics: int = 1
    publishers_each: int = 1
    subscribers_each: int = 1
    events: int = 1
    every_s: float = 1.0
    start_s: float = 0.0
    arrivals: Literal["regular", "poisson"] = "regular"
    seed: int = 0
    width: int = 1

    def __post_init__(self) -> None:
        for name in ("topics", "publishers_each", "subscribers_each"):
            if getattr(self, name) < 1:
                raise Problem(f"{name} = {getattr(self, name)}: it must be 1 or more")
        if self.arrivals not in ("regular", "poisson") or not 0 <= self.seed < 2**64:
            what = f"arrivals = '{self.arrivals}', seed = {self.seed}"
            raise Problem(f"{what}: 'regular' or 'poisson', and 0 to 2^64 - 1 are wanted")
        if not 1 <= self.width <= self.topics:
            raise Problem(f"width = {self.width}: it must be from 1 to topics = {self.topics}")
        roles = self.publishers_each + self.subscribers_each
        if roles > self.n:
            raise Problem(
                f"{self.publishers_each} publishers and {self.subscribers_each} subscribers of a "
                f"topic do not fit {self.n} nodes", remedy="they are distinct: ask for fewer",
            )  # fmt: skip
        if not 0 <= self.events < 2**31:
            raise Problem(f"events = {self.events}: it must be from 0 to 2^31 - 1")
        if not 0.0 < self.every_s < _LARGEST or not 0.0 <= self.start_s < _LARGEST:
            what = f"every_s = {self.every_s:g}, start_s = {self.start_s:g}"
            raise Problem(f"{what}: a positive and a non-negative, finite time are wanted")
        order = [_order(self.n, np.uint64(self.seed), topic) for topic in range(self.topics)]
        self.publishers = [np.sort(rows[: self.publishers_each]) for rows in order]
        wanting = [rows[self.publishers_each : roles] for rows in order]
        self.subscribers = _widened(wanting, self.width)
        self._told = 0
        self._due = self.start_s + (self._gap(0) if self.arrivals == "poisson" else 0.0)

    def _gap(self, event: int) -> float:
        return float(_gap(np.uint64(self.seed), event, self.every_s))

    def next_at(self) -> float:
        """When the next publication is due; inf when there is none."""
        return self._due if self._told < self.events else np.inf

    def take(self, until: float, most: int) -> Publications:
        """The next publications before a time, `most` at the most; each is told once."""
        t: list[float] = []
        first = self._told
        while len(t) < most and self.next_at() < until:
            t.append(self._due)
            self._told += 1
            if self.arrivals == "regular":
                self._due = self.start_s + self._told * self.every_s
            else:
                self._due += self._gap(self._told)
        event = np.arange(first, self._told, dtype=np.int32)
        topic, which = np.empty_like(event), np.empty_like(event)
        _choose(np.uint64(self.seed), event, self.topics, self.publishers_each, topic, which)
        publishers = np.stack(self.publishers)
        return Publications(np.array(t), publishers[topic, which], topic, event)

    def begun_again(self) -> "Drawn":
        """The same demand with nothing told yet."""
        return Drawn(
            self.n, self.topics, self.publishers_each, self.subscribers_each, self.events,
            self.every_s, self.start_s, self.arrivals, self.seed, self.width,
        )  # fmt: skip


def _rows_by_topic(topics: int, pairs: list[tuple[int, int]]) -> list[npt.NDArray[np.int32]]:
    found: list[set[int]] = [set() for _ in range(topics)]
    for row, topic in pairs:
        found[topic].add(row)
    return [np.array(sorted(rows), np.int32) for rows in found]


def _widened(rows: list[npt.NDArray[np.int32]], width: int) -> list[npt.NDArray[np.int32]]:
    """Number -> rows that want it, ascending; rows[v] want `width` numbers from v on.

    Intervals that would reach beyond the last number end there, and are as wide.
    """
    last = len(rows) - width
    wanted: list[list[npt.NDArray[np.int32]]] = [[] for _ in rows]
    for v, some in enumerate(rows):
        for number in range(min(v, last), min(v, last) + width):
            wanted[number].append(some)
    return [np.unique(np.concatenate(some)) for some in wanted]


def _order(n: int, seed: np.uint64, topic: int) -> npt.NDArray[np.int32]:
    """All rows in the order of the topic's lots."""
    lot = np.empty(n, np.uint64)
    _cast(seed, topic, lot)
    return np.argsort(lot, kind="stable").astype(np.int32)


@kernel
def _cast(seed, topic, lot):
    word = seeded(seeded(seed, _WHO), topic)
    for i in range(lot.shape[0]):
        word = advanced(word)
        lot[i] = mixed(word)


@kernel
def _gap(seed, event, mean):
    _, gap = exponential(seeded(seeded(seed, _WHEN + 1), event), mean)
    return gap


@kernel
def _choose(seed, event, topics, publishers, topic, which):
    for k in range(event.shape[0]):
        word = advanced(seeded(seeded(seed, _WHEN), event[k]))
        topic[k] = pick(mixed(word), topics)
        which[k] = pick(mixed(advanced(word)), publishers)
