"""Groups whose members send events to one member (SEND), or to the whole group (CAST), on topics of
members.

CAST(group) is an event on the topic of the group. SEND(group, member) is an event on a topic to
which only this member subscribes. So every system that carries groups carries both
(`docs/decisions/0067`).
"""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from halfway.core.missing import NONE
from halfway.problem import Problem
from halfway.world.workload.groups.group_workload import OTHER_EVENTS, Groups
from halfway.world.workload.named_roles import LINGER_S


class Addressed(Protocol):
    """An event of a group's member beside its announcements."""

    @property
    def sender(self) -> int:
        """The number of the stay of the member that sends this event (SEND or CAST)."""
        ...

    @property
    def receiver(self) -> int:
        """The number of the receiver's stay for an event by SEND; NONE for CAST: the whole
        group.
        """
        ...


_Event = TypeVar("_Event", bound=Addressed)


@dataclass
class AddressedGroups(Groups, Generic[_Event], ABC):
    """The demand of groups whose members publish events while a run goes on.

    A subclass calls `_add_member_topics`, and gives the bytes of an event by `_bytes`.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        self.events: list[_Event] = []
        self._groups = self.topics

    def _add_member_topics(self, askers: Sequence[Sequence[int]]) -> None:
        """Give each member a topic of its own: the number of groups, plus the number of its stay.

        askers: of each member, the stays that may send to it.
        """
        subscribing, publishing = dict(self.periods), dict(self.publishing_periods)
        for topic, stay in enumerate(self.stays, start=self._groups):
            stays = sorted(
                (self.stays[k] for k in askers[topic - self._groups]), key=lambda asker: asker.row
            )
            self.subscribers.append(np.array([stay.row], np.int32))
            self.publishers.append(np.array([asker.row for asker in stays], np.int32))
            subscribing[stay.row, topic] = stay.from_s, stay.until_s
            for asker in stays:
                publishing[asker.row, topic] = asker.from_s, asker.until_s + LINGER_S
        self.topics += len(self.stays)
        self.periods, self.publishing_periods = subscribing, publishing

    def publish(self, at: float, event: _Event) -> None:
        """Let a group's member send an event by SEND or CAST: the demand publishes it at a time
        (seconds).
        """
        heapq.heappush(self._due, (at, event.sender, OTHER_EVENTS + len(self.events)))
        self.events.append(event)

    def event_of(self, event: int) -> _Event | None:
        """Return the event that a group's member sent by SEND or CAST, by its number in the run, or
        None for an announcement.
        """
        what = self.said[event][1]
        return None if what < OTHER_EVENTS else self.events[what - OTHER_EVENTS]

    @abstractmethod
    def _bytes(self, event: _Event) -> int:
        """Return the bytes of payload of an event that a group's member sent by SEND or CAST."""

    def _content(self, number: int, what: int) -> tuple[int, int]:
        """Return the topic and the bytes of payload of what a member of a group publishes."""
        if what < OTHER_EVENTS:
            return super()._content(number, what)
        event = self.events[what - OTHER_EVENTS]
        if event.receiver == NONE:
            return self.stays[number].group, self._bytes(event)
        return self._groups + event.receiver, self._bytes(event)


class GroupMessage(NamedTuple):
    """A message of an application; sender and receiver are numbers of stays."""

    sender: int
    receiver: int  # NONE: the whole group
    data: bytes


@dataclass
class MessagedGroups(AddressedGroups[GroupMessage]):
    """The demand of groups whose members have applications that send and cast.

    reaction_s: seconds from a call of an application until its event is published. addressed:
    whether members send to one member; False: no member has a topic of its own.
    Raises Problem for a time that is not above 0.
    """

    reaction_s: float = 0.1
    addressed: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.reaction_s < np.inf:
            raise Problem(f"reaction_s = {self.reaction_s:g}: expected a finite time above 0")
        if self.addressed:
            peers: list[list[int]] = [[] for _ in range(self._groups)]
            for number, stay in enumerate(self.stays):
                peers[stay.group].append(number)
            self._add_member_topics(
                [
                    [other for other in peers[stay.group] if other != number]
                    for number, stay in enumerate(self.stays)
                ]
            )

    def _bytes(self, event: GroupMessage) -> int:
        """Return the bytes of payload of a message: its data."""
        return len(event.data)
