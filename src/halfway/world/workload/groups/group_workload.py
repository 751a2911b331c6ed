"""The workload of groups: members join, announce themselves, and leave; a topic is a group.

[drw §2] "the nodes must be able to list the members of the group, membership must be dynamic". The
paper leaves open how often members make themselves known. Here a member publishes an announcement
on the topic of its group again and again, as soft state.
"""

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.workload.demand import Publications
from halfway.world.workload.named_roles import LINGER_S, BrokerPeriod, Period

ANNOUNCES, LEAVES = 0, 1  # what an announcement says
OTHER_EVENTS = 2  # of a member, from this number on: a workload above groups numbers them
ANNOUNCEMENT_BYTES = 4  # the lifetime in ms, 31 bits, and whether the member leaves
_FIRST = 0.1  # share of the period: the largest random delay of the first announcement
_JITTER = 0.1  # share of the period: the largest difference of a gap from it


class Stay(NamedTuple):
    """A member's stay in a group: its row, the group, times in seconds, and its role."""

    row: int
    group: int
    from_s: float = 0.0
    until_s: float = np.inf
    publishes: bool = True  # announces itself, so that others list it
    subscribes: bool = True  # lists the others


@dataclass
class Groups:
    """The demand of group members, which announce themselves on the topic of their group.

    announce_s: mean seconds between two announcements of a member; 0: members announce nothing,
    and the system itself lists them.
    lifetime_s: seconds for which an announcement holds. start_s: the metrics count from then on.
    Raises Problem for a row that has two stays in a group, and for times that are out of range.
    """

    stays: Sequence[Stay]
    announce_s: float = 10.0
    lifetime_s: float = 35.0
    start_s: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        self._check()
        self.topics = 1 + max((stay.group for stay in self.stays), default=0)
        self.publishers = self._rows([stay for stay in self.stays if stay.publishes])
        self.subscribers = self._rows([stay for stay in self.stays if stay.subscribes])
        self.periods: Mapping[tuple[int, int], Period] = {
            (stay.row, stay.group): (stay.from_s, stay.until_s)
            for stay in self.stays
            if stay.subscribes
        }
        self.publishing_periods: Mapping[tuple[int, int], Period] = {
            (stay.row, stay.group): (stay.from_s, stay.until_s + LINGER_S)
            for stay in self.stays
            if stay.publishes
        }
        self.has_payloads = True
        self.shape: tuple[int, ...] = ()
        self.brokers: tuple[BrokerPeriod, ...] = ()
        self.said: list[tuple[int, int]] = []  # event -> the stay's number, and what it says
        self._random = [
            np.random.default_rng((self.seed, stay.row, stay.group)) for stay in self.stays
        ]
        self._due: list[tuple[float, int, int]] = []  # a heap: seconds, the stay's number, what
        for number, stay in enumerate(self.stays):
            if stay.publishes and self.announce_s > 0.0:
                first = stay.from_s + _FIRST * self.announce_s * self._random[number].random()
                self._push(first, number)
                if stay.until_s < np.inf:
                    heapq.heappush(self._due, (stay.until_s, number, LEAVES))

    def _check(self) -> None:
        if not (0.0 <= self.announce_s < np.inf and 0.0 <= self.start_s < np.inf):
            what = f"announce_s = {self.announce_s:g}, start_s = {self.start_s:g}"
            raise Problem(f"{what}: expected finite times >= 0")
        if not self.announce_s < self.lifetime_s < np.inf:
            raise Problem(
                f"lifetime_s = {self.lifetime_s:g}: expected a finite time above "
                f"announce_s = {self.announce_s:g}",
                remedy="raise lifetime_s to a few times announce_s",
            )
        known: set[tuple[int, int]] = set()
        for stay in self.stays:
            if not 0.0 <= stay.from_s < stay.until_s:
                what = f"node {stay.row}: from_s = {stay.from_s:g}, until_s = {stay.until_s:g}"
                raise Problem(f"{what}: expected 0 <= from_s < until_s")
            if (stay.row, stay.group) in known:
                what = f"node {stay.row} joins group {stay.group} twice"
                raise Problem(what, remedy="give each member of a group once")
            known.add((stay.row, stay.group))

    def _rows(self, stays: Sequence[Stay]) -> list[npt.NDArray[np.int32]]:
        """Return the rows of the groups' members with a role, by topic, ascending."""
        found: list[list[int]] = [[] for _ in range(self.topics)]
        for stay in stays:
            found[stay.group].append(stay.row)
        return [np.array(sorted(rows), np.int32) for rows in found]

    def _push(self, at: float, number: int) -> None:
        if at < self.stays[number].until_s:
            heapq.heappush(self._due, (at, number, ANNOUNCES))

    def next_at(self) -> float:
        """Return the time of the groups' next announcement in seconds, or inf after the last."""
        return self._due[0][0] if self._due else np.inf

    def next_publications(self, until: float, most: int) -> Publications:
        """Return the announcements of groups before `until` (seconds), at most `most`; each only
        once.
        """
        taken: list[tuple[float, int, int]] = []
        while len(taken) < most and self.next_at() < until:
            at, number, what = heapq.heappop(self._due)
            taken.append((at, number, what))
            if what == ANNOUNCES:
                gap = 1.0 + _JITTER * (2.0 * self._random[number].random() - 1.0)
                self._push(at + gap * self.announce_s, number)
        first, count = len(self.said), len(taken)
        self.said += [(number, what) for _, number, what in taken]
        content = [self._content(number, what) for _, number, what in taken]
        return Publications(
            np.array([at for at, _, _ in taken], np.float64),
            np.array([self.stays[number].row for _, number, _ in taken], np.int32),
            np.array([topic for topic, _ in content], np.int32),
            np.arange(first, first + count, dtype=np.int32),
            np.array([size for _, size in content], np.int64),
        )

    def _content(self, number: int, what: int) -> tuple[int, int]:
        """Return the topic and the bytes of payload of a member's announcement to its group."""
        del what
        return self.stays[number].group, ANNOUNCEMENT_BYTES

    def begun_again(self) -> "Groups":
        """Return the demand of the groups as it is before the first announcement."""
        return replace(self)


def drawn_stays(
    n: int,
    groups: int,
    members_each: int,
    *,
    join_s: tuple[float, float],
    stay_s: float | None,
    publishes: bool,
    subscribes: bool,
    seed: int,
    clients_each: int = 0,
) -> list[Stay]:
    """Draw the stays of the groups' members: distinct uniform rows of each group.

    clients_each: further members of each group, which only subscribe. join_s: members join at
    uniform times of this range. stay_s: the mean of the exponential time for which a member stays;
    None: to the end of the run. Raises Problem for too many members.
    """
    if members_each > n:
        what = f"members_each = {members_each}: expected at most {n}, the number of nodes"
        raise Problem(what, remedy="lower members_each")
    if clients_each > n - members_each:
        what = f"requests.clients_each = {clients_each}: expected at most {n - members_each}"
        raise Problem(f"{what}, the nodes that are not members", remedy="lower clients_each")
    if join_s[0] > join_s[1]:
        what = f"join_s = [{join_s[0]:g}, {join_s[1]:g}]"
        raise Problem(f"{what}: expected the earlier time first", remedy="swap the two times")
    stays = []
    for group in range(groups):
        random = np.random.default_rng((seed, group))
        rows = random.permutation(n)[: members_each + clients_each]
        members, clients = np.sort(rows[:members_each]), np.sort(rows[members_each:])
        for k, row in enumerate([*members.tolist(), *clients.tolist()]):
            begin = float(random.uniform(*join_s))
            end = np.inf if stay_s is None else begin + float(random.exponential(stay_s))
            roles = (publishes, subscribes) if k < members_each else (False, True)
            stays.append(Stay(row, group, begin, max(end, begin + 1e-3), *roles))
    return stays
