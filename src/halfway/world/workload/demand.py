"""Topic workloads (demand): subscriptions and publications, from lists or drawn incrementally."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed, seeded
from halfway.problem import Problem
from halfway.world.outages import LATEST_S
from halfway.world.workload.arrivals import gap_before
from halfway.world.workload.attribute_space import check_shape, widened
from halfway.world.workload.named_roles import DRAWN, LINGER_S, BrokerPeriod, GivenRoles, Period
from halfway.world.workload.publisher_periods import PublisherPeriods, drawn_events

_WHO, _WHEN = 0x3A0, 0x3B0  # seeds of the random states of roles and of publications


class Publications(NamedTuple):
    """Publications of a demand in order of time; event ids ascend from 0 over a run."""

    t: npt.NDArray[np.float64]  # [events] seconds
    row: npt.NDArray[np.int32]  # [events] the publisher
    topic: npt.NDArray[np.int32]  # [events]
    event: npt.NDArray[np.int32]  # [events] ids
    size: npt.NDArray[np.int64] | None = None  # [events] bytes of payload; None: no payloads


class Demand(Protocol):
    """The demand of the applications of a run: their subscriptions and publications.

    A subscription holds from the start of a run to its end, unless `periods` has it: (row, topic)
    -> seconds at which the subscription begins and ends. publishing_periods: the same for the role
    of a publisher. brokers: the brokers of broker trees, if the workload names them. has_payloads:
    whether publications have sizes. shape: the number of values of each attribute if a topic is a
    cell of the content of events; () if subscriptions are to topics.
    """

    topics: int
    shape: tuple[int, ...]
    periods: Mapping[tuple[int, int], Period]
    publishing_periods: Mapping[tuple[int, int], Period]
    brokers: tuple[BrokerPeriod, ...]
    has_payloads: bool
    publishers: list[npt.NDArray[np.int32]]  # topic -> rows that may publish on it, ascending
    subscribers: list[npt.NDArray[np.int32]]  # topic -> rows that subscribe to it, ascending

    def next_publications(self, until: float, most: int) -> Publications:
        """Return the next publications of any demand before `until` (seconds), at most `most`; each
        only once.
        """
        ...

    def next_at(self) -> float:
        """Return the time of any demand's next publication in seconds, or inf after the last."""
        ...

    def begun_again(self) -> "Demand":
        """Return the same demand, of any kind, before its first publication."""
        ...


@dataclass
class Listed:
    """A demand given as lists.

    subscriptions: (row, topic) pairs; publications: (seconds, row, topic), in any order; sizes:
    the bytes of payload of each publication; periods, brokers, publishing_periods: see `Demand`.
    Raises Problem for a topic or row below 0, and for a time that is negative or not finite.
    """

    subscriptions: list[tuple[int, int]]
    publications: list[tuple[float, int, int]]
    sizes: Sequence[int] | None = None
    periods: Mapping[tuple[int, int], Period] = field(default_factory=dict)
    brokers: tuple[BrokerPeriod, ...] = ()
    publishing_periods: Mapping[tuple[int, int], Period] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for row, topic in [*self.subscriptions, *((row, of) for _, row, of in self.publications)]:
            if row < 0 or topic < 0:
                raise Problem(f"node {row}, topic {topic}: expected two numbers >= 0")
        for t, row, _ in self.publications:
            if not 0.0 <= t < LATEST_S:
                raise Problem(f"node {row} publishes at {t} s: expected a finite time >= 0")
        self.shape: tuple[int, ...] = ()
        wanted = [topic for _, topic in self.subscriptions]
        self.topics = 1 + max([*wanted, *(of for _, _, of in self.publications)], default=0)
        self.subscribers = _rows_by_topic(self.topics, self.subscriptions)
        self.publishers = _rows_by_topic(self.topics, [(r, of) for _, r, of in self.publications])
        if self.sizes is not None and len(self.sizes) != len(self.publications):
            what = f"sizes: expected one for each of {len(self.publications)} publications"
            raise Problem(f"{what}, not {len(self.sizes)}")
        order = sorted(range(len(self.publications)), key=lambda k: self.publications[k][0])
        self._ordered = [self.publications[k] for k in order]
        self.has_payloads = self.sizes is not None
        self._sizes = np.array([(self.sizes or [0] * len(order))[k] for k in order], np.int64)
        self._taken = 0

    def next_at(self) -> float:
        """Return the time of a listed demand's next publication in s, or inf after the last."""
        return self._ordered[self._taken][0] if self._taken < len(self._ordered) else np.inf

    def next_publications(self, until: float, most: int) -> Publications:
        """Return at most `most` publications of a listed demand before `until` (seconds). No later
        call returns them again.
        """
        first = self._taken
        while self._taken - first < most and self.next_at() < until:
            self._taken += 1
        publications = self._ordered[first : self._taken]
        return Publications(
            np.array([t for t, _, _ in publications], np.float64),
            np.array([row for _, row, _ in publications], np.int32),
            np.array([topic for _, _, topic in publications], np.int32),
            np.arange(first, self._taken, dtype=np.int32),
            self._sizes[first : self._taken] if self.has_payloads else None,
        )

    def begun_again(self) -> "Listed":
        """Return the same listed demand before its first publication."""
        return replace(self)


@dataclass
class Drawn:
    """A demand whose roles and publications are drawn by a seed. Its memory does not grow with the
    number of events.

    Each topic has `publishers_each` publishers and `subscribers_each` subscribers: distinct rows,
    uniform among n. An event has a uniform topic, and a uniform publisher of this topic.
    arrivals="regular": event k at start_s + k x every_s; "poisson": exponential gaps with the mean
    every_s from start_s on. width: in content-based runs, a topic is a number, and its subscribers
    want `width` consecutive numbers from this number on (or the last `width` numbers). attributes:
    the number of values of each attribute; a topic is then a cell, and `width` counts values of
    each attribute. exponent: topic k is drawn in proportion to 1 / (k + 1)^exponent (Zipf). roles:
    rows that the caller gives instead of drawn rows. A topic has no events while it has no
    publisher. payload: the bytes of an event by topic; () for none.
    The random state depends on (seed, topic) and (seed, event). Raises Problem with value and
    range.
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
    exponent: float = 0.0
    roles: GivenRoles = DRAWN
    payload: Sequence[int] = ()
    attributes: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        for name in ("topics", "publishers_each", "subscribers_each"):
            if getattr(self, name) < 1:
                raise Problem(f"{name} = {getattr(self, name)}: expected at least 1")
        if self.arrivals not in ("regular", "poisson") or not 0 <= self.seed < 2**64:
            what = f"arrivals = '{self.arrivals}', seed = {self.seed}"
            raise Problem(f"{what}: expected 'regular' or 'poisson', and a seed from 0 to 2^64 - 1")
        check_shape(self.attributes, self.topics, self.width)
        self.shape = self.attributes or ((self.topics,) if self.width > 1 else ())
        publishing, subscribing = self.publishers_each, self.subscribers_each
        roles = publishing + subscribing
        if roles > self.n:
            what = f"publishers_each = {publishing}, subscribers_each = {subscribing}"
            raise Problem(f"{what}: expected a sum of at most n = {self.n} nodes")
        if not 0 <= self.events < 2**31:
            raise Problem(f"events = {self.events}: expected 0 to 2^31 - 1")
        if not 0.0 < self.every_s < LATEST_S or not 0.0 <= self.start_s < LATEST_S:
            what = f"every_s = {self.every_s:g}, start_s = {self.start_s:g}"
            raise Problem(f"{what}: expected finite times, every_s > 0 and start_s >= 0")
        self.publishers, self.subscribers = self._roles()
        self.periods, self.has_payloads = self.roles.periods, len(self.payload) > 0
        periods = self.roles.publishing_periods
        self.publishing_periods: Mapping[tuple[int, int], Period] = {
            pair: (from_s, until_s + LINGER_S) for pair, (from_s, until_s) in periods.items()
        }
        self.brokers = self.roles.brokers
        self._there = PublisherPeriods(self.publishers, periods)
        self._taken = self._moment = 0  # events published, and moments of events so far
        self._due = self.start_s + (self._gap(0) if self.arrivals == "poisson" else 0.0)
        self._find_publisher()
        if self._moment == self.events > 0:
            what = (
                "at the times of the events, no named publisher is between its from_s and until_s"
            )
            raise Problem(f"publishers: {what}", remedy="change from_s, until_s, or the events")

    def _roles(self) -> tuple[list[npt.NDArray[np.int32]], list[npt.NDArray[np.int32]]]:
        """Return the publishers and the subscribers [topic] of a demand: given, or drawn."""
        stated, publishing = self.roles, self.publishers_each
        if stated.publishers is not None and stated.subscribers is not None:
            return _arrays(stated.publishers), _arrays(stated.subscribers)
        order = [drawn_order(self.n, self.seed, topic) for topic in range(self.topics)]
        if stated.publishers is not None:
            left = _first(order, stated.publishers, self.subscribers_each, "subscribers_each")
            return _arrays(stated.publishers), self._widened(left)
        if stated.subscribers is not None:
            left = _first(order, stated.subscribers, publishing, "publishers_each")
            return [np.sort(rows) for rows in left], _arrays(stated.subscribers)
        roles = publishing + self.subscribers_each
        subscribers = self._widened([rows[publishing:roles] for rows in order])
        return [np.sort(rows[:publishing]) for rows in order], subscribers

    def _widened(self, rows: list[npt.NDArray[np.int32]]) -> list[npt.NDArray[np.int32]]:
        if not self.shape:
            return [np.sort(some) for some in rows]
        return widened(rows, self.shape, self.width)

    def _gap(self, event: int) -> float:
        return float(gap_before(np.uint64(self.seed), _WHEN + 1, event, self.every_s))

    def next_at(self) -> float:
        """Return the time of a drawn demand's next publication in s, or inf after the last."""
        return self._due if self._moment < self.events else np.inf

    def _advance(self) -> None:
        """Go to the next moment of a demand at which an event is due."""
        self._moment += 1
        if self.arrivals == "regular":
            self._due = self.start_s + self._moment * self.every_s
        else:
            self._due += self._gap(self._moment)

    def _find_publisher(self) -> None:
        """Go to the first moment of a demand at which a node publishes, this one included."""
        while self._moment < self.events and not self._there.is_any(self._due):
            self._advance()

    def next_publications(self, until: float, most: int) -> Publications:
        """Return at most `most` publications of a drawn demand before `until` (seconds). No later
        call returns them again.
        """
        t: list[float] = []
        moments: list[int] = []
        while len(t) < most and self.next_at() < until:
            t.append(self._due)
            moments.append(self._moment)
            self._advance()
            self._find_publisher()
        first, self._taken = self._taken, self._taken + len(t)
        event, moment = np.arange(first, self._taken, dtype=np.int32), np.array(moments, np.int32)
        topic, row = np.empty_like(event), np.empty_like(event)
        for part, publishers in self._there.parts(t):
            topic[part], row[part] = drawn_events(
                (self.seed, _WHEN), moment[part], self.exponent, publishers
            )
        size = np.asarray(self.payload, np.int64)[topic] if self.has_payloads else None
        return Publications(np.array(t), row, topic, event, size)

    def begun_again(self) -> "Drawn":
        """Return the same drawn demand before its first publication."""
        return replace(self)


def _arrays(rows: Sequence[Sequence[int]]) -> list[npt.NDArray[np.int32]]:
    return [np.array(some, np.int32) for some in rows]


def _first(
    order: list[npt.NDArray[np.int32]], taken: Sequence[Sequence[int]], count: int, name: str
) -> list[npt.NDArray[np.int32]]:
    """Return the first `count` rows in a demand's order of each topic that are not taken."""
    left = [rows[~np.isin(rows, taken_rows)] for rows, taken_rows in zip(order, taken, strict=True)]
    least = min(map(len, left))
    if count > least:
        what = f"{name} = {count}: expected at most {least}, the nodes without a given role"
        raise Problem(what, remedy=f"lower {name}")
    return [rows[:count] for rows in left]


def _rows_by_topic(topics: int, pairs: list[tuple[int, int]]) -> list[npt.NDArray[np.int32]]:
    found: list[set[int]] = [set() for _ in range(topics)]
    for row, topic in pairs:
        found[topic].add(row)
    return [np.array(sorted(rows), np.int32) for rows in found]


def drawn_order(n: int, seed: int, topic: int) -> npt.NDArray[np.int32]:
    """Return all rows in the order of the lots that a demand draws for the topic."""
    lot = np.empty(n, np.uint64)
    _draw_lots(np.uint64(seed), topic, lot)
    return np.argsort(lot, kind="stable").astype(np.int32)


@kernel
def _draw_lots(seed, topic, lot):
    word = seeded(seeded(seed, _WHO), topic)
    for i in range(lot.shape[0]):
        word = advanced(word)
        lot[i] = mixed(word)
