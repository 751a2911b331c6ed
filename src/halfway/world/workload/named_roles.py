"""The named roles of a workload: publishers, subscribers and brokers by the names of nodes, and
their periods.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem

Period = tuple[float, float]  # seconds: the beginning of a role and its end
ALWAYS: Period = (0.0, math.inf)
# A node stays a publisher for so many seconds after its period, so that its last event still finds
# its paths.
LINGER_S = 1.0
_SHOWN = 5  # names in an error


class NamedRole(NamedTuple):
    """A role by name in a workload: a node publishes on a topic, or subscribes to it, from
    from_s on and before until_s.
    """

    node: str
    topic: str | None  # None: all topics
    from_s: float = 0.0
    until_s: float = math.inf


class BrokerPeriod(NamedTuple):
    """A broker that a workload names: its row, and the seconds at which it enters and leaves."""

    row: int
    from_s: float = 0.0
    until_s: float = math.inf


class GivenRoles(NamedTuple):
    """The roles that a workload gives by name, as rows [topic]; None leaves a role to the seed."""

    publishers: tuple[tuple[int, ...], ...] | None = None
    subscribers: tuple[tuple[int, ...], ...] | None = None
    periods: Mapping[tuple[int, int], Period] = {}  # (row, topic); others subscribe for ever
    publishing_periods: Mapping[tuple[int, int], Period] = {}  # the same of publishers
    brokers: tuple[BrokerPeriod, ...] = ()  # of broker trees, the root first; (): drawn


DRAWN = GivenRoles()  # all roles of a workload are drawn


class Names:
    """The names of a workload's nodes or topics, and their numbers."""

    def __init__(self, what: str, names: Iterable[str]) -> None:
        self.what, self.known = what, {name: number for number, name in enumerate(names)}

    def number(self, name: str, where: str) -> int:
        """Return the number of a name in a workload; Problem with the nearest names for another."""
        if name in self.known:
            return self.known[name]
        near = get_close_matches(name, self.known, _SHOWN, 0.5) or list(self.known)[:_SHOWN]
        remedy = f"use one of its {len(self.known):,} {self.what}s, such as {', '.join(near)}"
        owner = "network" if self.what == "node" else "workload"
        raise Problem(f"'{name}': the {owner} has no such {self.what}", where=where, remedy=remedy)


def topic_names(names: Iterable[str]) -> list[str]:
    """Return the topics of a workload in the order of their numbers, each once.

    Whole numbers come first, in ascending order. The other names follow in alphabetical order.
    """
    return sorted(set(names), key=lambda name: (0, int(name), "") if _whole(name) else (1, 0, name))


def _whole(name: str) -> bool:
    return name.isascii() and name.isdecimal()


def publishing_rows(
    some: Sequence[NamedRole], nodes: Names, topics: Names, where: str
) -> tuple[tuple[tuple[int, ...], ...], dict[tuple[int, int], Period]]:
    """Return the rows that publish on each topic of a workload, and the periods not for ever.

    A role may be given twice. Raises Problem as `subscribing_rows` does.
    """
    return _rows_of(list(dict.fromkeys(some)), nodes, topics, where, "publishes on")


def subscribing_rows(
    some: Sequence[NamedRole], nodes: Names, topics: Names, where: str
) -> tuple[tuple[tuple[int, ...], ...], dict[tuple[int, int], Period]]:
    """Return the rows that subscribe to each topic of a workload, and the periods not for ever.

    Raises Problem for an unknown name, a pair that is given twice, and a period without length.
    """
    return _rows_of(some, nodes, topics, where, "subscribes to")


def _rows_of(
    roles: Sequence[NamedRole], nodes: Names, topics: Names, where: str, does: str
) -> tuple[tuple[tuple[int, ...], ...], dict[tuple[int, int], Period]]:
    """Return the rows of a workload's role by topic, and the periods not for ever. does: a verb."""
    periods_of: list[dict[int, Period]] = [{} for _ in topics.known]
    for role in roles:
        if not 0.0 <= role.from_s < role.until_s:
            what = f"node '{role.node}': from_s = {role.from_s:g}, until_s = {role.until_s:g}"
            raise Problem(f"{what}: expected 0 <= from_s < until_s", where=where)
        row = nodes.number(role.node, where)
        for number in _numbers(role.topic, topics, where):
            if row in periods_of[number]:
                topic = list(topics.known)[number]
                what = f"node '{role.node}' {does} topic '{topic}' twice"
                raise Problem(what, where=where, remedy="give each pair of a node and a topic once")
            periods_of[number][row] = (role.from_s, role.until_s)
    periods = {
        (row, topic): period
        for topic, rows in enumerate(periods_of)
        for row, period in rows.items()
        if period != ALWAYS
    }
    return tuple(tuple(sorted(rows)) for rows in periods_of), periods


def brokers_of(
    listed: Sequence[tuple[str, float, float]], nodes: Names, where: str
) -> tuple[BrokerPeriod, ...]:
    """Return the brokers that a workload names, each as node, from_s and until_s; the root first.

    Raises Problem for an unknown name, a broker that is named twice, a period without length, and
    a root that is not there for the whole run.
    """
    brokers: list[BrokerPeriod] = []
    for name, from_s, until_s in listed:
        if not 0.0 <= from_s < until_s:
            what = f"node '{name}': from_s = {from_s:g}, until_s = {until_s:g}"
            raise Problem(f"{what}: expected 0 <= from_s < until_s", where=where)
        row = nodes.number(name, where)
        if any(broker.row == row for broker in brokers):
            what = f"node '{name}' is named twice"
            raise Problem(what, where=where, remedy="give each broker once")
        brokers.append(BrokerPeriod(row, from_s, until_s))
    if brokers and (brokers[0].from_s, brokers[0].until_s) != ALWAYS:
        what = (
            f"node '{listed[0][0]}' is the first broker, which founds the tree and stays its root"
        )
        remedy = "leave out its from_s and until_s, or begin with another broker"
        raise Problem(what, where=where, remedy=remedy)
    return tuple(brokers)


def _numbers(topic: str | None, topics: Names, where: str) -> Iterable[int]:
    return range(len(topics.known)) if topic is None else [topics.number(topic, where)]


class RolePeriods:
    """The periods of named roles by (row, topic), for many pairs at once."""

    def __init__(self, periods: Mapping[tuple[int, int], Period], topics: int) -> None:
        self.some, self._topics = bool(periods), topics
        given = sorted((row * topics + topic, *period) for (row, topic), period in periods.items())
        self._code = np.array([code for code, _, _ in given], np.int64)
        self._from = np.array([from_s for _, from_s, _ in given], np.float64)
        self._until = np.array([until_s for _, _, until_s in given], np.float64)

    def begin_times(
        self, row: npt.NDArray[np.integer[Any]], topic: npt.NDArray[np.integer[Any]]
    ) -> npt.NDArray[np.float64]:
        """Return the seconds at which named roles begin, one for each pair."""
        found = np.zeros(len(row))
        known, place = self._places(row, topic)
        found[known] = self._from[place]
        return found

    def hold(
        self,
        row: npt.NDArray[np.integer[Any]],
        topic: npt.NDArray[np.integer[Any]] | int,
        at: npt.NDArray[np.float64] | float,
    ) -> npt.NDArray[np.bool_]:
        """Return whether the named role of each pair of row and topic holds at a time (seconds)."""
        holds = np.ones(len(row), bool)
        known, place = self._places(row, topic)
        then = np.broadcast_to(at, len(row))[known]
        holds[known] = (self._from[place] <= then) & (then < self._until[place])
        return holds

    def _places(
        self, row: npt.NDArray[np.integer[Any]], topic: npt.NDArray[np.integer[Any]] | int
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the pairs whose named role has a period, and the index of the period."""
        code = row.astype(np.int64) * self._topics + topic
        place = np.searchsorted(self._code, code)
        known = np.flatnonzero(place < len(self._code))
        known = known[self._code[place[known]] == code[known]]
        return known, place[known]
