"""Simulated groups for a program: it advances the time, reads views, and lets members send.

The operations of a group: LIST, SEND(group, member) and CAST(group) from the application, and
VIEW(group, number, joined or left, member, hops) and messages to it. JOIN and LEAVE are the times
of the stays in the workload.
"""

from typing import NamedTuple

import numpy as np

from halfway.core.missing import NONE
from halfway.problem import Problem
from halfway.sim.engine.clocks import own_time
from halfway.sim.metrics.group_accounting import GroupAccounting
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.simulation import Simulation
from halfway.sim.workload.applications import HeardMessage, Mailboxes
from halfway.world.workload.groups.group_workload import Stay
from halfway.world.workload.groups.member_topics import GroupMessage, MessagedGroups


class View(NamedTuple):
    """A change of a view: VIEW(group, number, joined or left, member, hops).

    path: from the viewer to the member, both ends included, at the end of the `advance` that
    returned the change; () if the member left, or the system has no path.
    """

    at: float  # seconds
    node: int  # the row of the viewer
    group: int
    number: int  # of this view: it grows with each change
    joined: bool  # else the member left
    member: int  # its row
    hops: int  # of the announcement or report; -1 where the member expired
    path: tuple[int, ...]


class MemberMessage(NamedTuple):
    """A message that a member received from another one, by SEND or CAST."""

    at: float  # seconds
    node: int  # the row of the receiver
    group: int
    sender: int  # its row
    is_cast: bool  # to the whole group
    hops: int
    data: bytes


class ListedMember(NamedTuple):
    """A member of a group that another member lists; path: see `View`."""

    member: int  # its row
    hops: int  # of its newest announcement or report
    path: tuple[int, ...]


class SimulatedGroups:
    """Groups of a simulation whose members a program drives. Rows and group numbers are from 0.

    simulation: with a workload of `MessagedGroups`, before its start.
    """

    def __init__(self, simulation: Simulation) -> None:
        demand, boxes = simulation.demand, simulation.publications.applications
        accounting = simulation.groups
        if not (isinstance(demand, MessagedGroups) and isinstance(boxes, Mailboxes)):
            raise TypeError("expected a simulation with a workload of MessagedGroups")
        assert accounting is not None
        self._simulation, self._demand, self._boxes = simulation, demand, boxes
        self._accounting: GroupAccounting = accounting
        self._stay_of = {(stay.row, stay.group): k for k, stay in enumerate(demand.stays)}

    @property
    def at(self) -> float:
        """The time of the simulated groups in seconds."""
        return self._simulation.at

    @property
    def names(self) -> list[str]:
        """The names of the nodes of simulated groups, by row."""
        return self._simulation.environment.names()

    def stays(self, group: int | None = None) -> list[Stay]:
        """Return the stays of the members in a simulated group, or in all groups: row, times and
        roles.
        """
        return [one for one in self._demand.stays if group in (None, one.group)]

    def members(self, group: int) -> list[int]:
        """Return the rows that are in a simulated group now, in ascending order, whether up or
        down.

        The program knows them from the workload. A member knows those that it lists.
        """
        at = self.at
        return sorted(one.row for one in self.stays(group) if one.from_s <= at < one.until_s)

    def advance(self, until: float) -> list[View | MemberMessage]:
        """Advance the simulated groups to a time (seconds); return what members saw and heard
        since the last call, in order of time.
        """
        self._simulation.advance(until)
        at = self.at
        self._accounting.settle(at)
        changes: list[View | MemberMessage] = [
            self._message(heard) for heard in self._boxes.taken()
        ]
        for view_columns in self._accounting.view_changes:
            columns = zip(*(column.tolist() for column in view_columns), strict=True)
            changes += [self._view(*change) for change in columns]
        self._accounting.view_changes.clear()
        return sorted(changes, key=lambda change: change.at)

    def list(self, node: int, group: int) -> "list[ListedMember]":
        """Return the members that a member of a simulated group lists now (LIST), by row.

        Raises Problem for a row that is not a member of the group now.
        """
        self._present(node, group)
        return [
            ListedMember(member, hops, self.path(node, group, member))
            for member, hops in self._accounting.view(node, group).items()
        ]

    def path(self, node: int, group: int, member: int) -> tuple[int, ...]:
        """Return the rows of the current path to a member of a simulated group, both ends included,
        or () if there is none.

        The path is read from the tables of the nodes. Only systems over walks keep such paths.
        """
        simulation, find = self._simulation, self._simulation.instance.path_to
        if find is None or node == member:
            return ()
        clocks = simulation.engine.clocks
        own = [own_time(clocks, row, self.at) for row in range(simulation.environment.n)]
        return tuple(find(node, group, member, np.array(own)))

    def cast(self, node: int, group: int, data: bytes) -> None:
        """Let a member of a simulated group send data to the whole group (CAST), `reaction_s` from
        now.

        Raises Problem for a row that is not a publishing member of the group now.
        """
        self._publish(node, group, GroupMessage(self._present(node, group), int(NONE), data))

    def send(self, node: int, group: int, member: int, data: bytes) -> None:
        """Let a member of a simulated group send data to one other member (SEND), `reaction_s` from
        now.

        The sender does not learn whether the message arrives. Raises Problem for rows that are not
        two different members of the group.
        """
        if not self._demand.addressed:
            remedy = "open the groups with addressed=True"
            raise Problem("send: expected members with topics of their own", remedy=remedy)
        sender, receiver = self._present(node, group), self._stay_of.get((member, group))
        if receiver is None or receiver == sender:
            remedy = "send to a member that `list` returns"
            raise Problem(
                f"member = {member}: expected another member of group {group}", remedy=remedy
            )
        self._publish(node, group, GroupMessage(sender, receiver, data))

    def outcome(self) -> Outcome:
        """Return the outcome of the simulated groups so far, with the metrics of their views."""
        return self._simulation.outcome()

    def _present(self, node: int, group: int) -> int:
        """Return the number of a member's stay in a simulated group. Raises Problem if it is not
        there.
        """
        number = self._stay_of.get((node, group))
        if number is not None:
            stay = self._demand.stays[number]
            if stay.from_s <= self.at < stay.until_s:
                return number
        what = f"node = {node}: expected a member of group {group} at {self.at:g} s"
        raise Problem(what, remedy="use a node that `members` returns")

    def _publish(self, node: int, group: int, message: GroupMessage) -> None:
        if not isinstance(message.data, bytes):
            raise Problem(f"data = {message.data!r}: expected bytes", remedy='write b"text"')
        if message.receiver == NONE and not self._demand.stays[message.sender].publishes:
            what = f"node = {node}: expected a member of group {group} that publishes"
            raise Problem(what, remedy='give this member the role "both" or "publish"')
        at = self.at + self._demand.reaction_s
        until_s = self._demand.stays[message.sender].until_s
        if at >= until_s:
            what = f"node = {node}: the node leaves group {group} at {until_s:g} s, before {at:g} s"
            raise Problem(what, remedy="publish earlier, or open the groups with less reaction_s")
        self._demand.publish(at, message)

    def _message(self, heard: HeardMessage) -> MemberMessage:
        sender, viewer = self._demand.stays[heard.sender], self._demand.stays[heard.viewer]
        return MemberMessage(
            heard.at, viewer.row, viewer.group, sender.row, heard.is_cast, heard.hops, heard.data
        )

    def _view(
        self, at: float, viewer: int, member: int, joined: bool, number: int, hops: int
    ) -> View:
        there, other = self._demand.stays[viewer], self._demand.stays[member]
        path = self.path(there.row, there.group, other.row) if joined else ()
        return View(
            at=at,
            node=there.row,
            group=there.group,
            number=number,
            joined=joined,
            member=other.row,
            hops=hops,
            path=path,
        )
