"""The request loop of a run: clients request a replicated resource of group members, and members
answer, by events.

Clients request a resource of the nearest member in their view, and members reply. An application
acts `reaction_s` after its cause. So the simulator runs `reaction_s` seconds ahead of the
applications, and no event comes too late. The result does not depend on the times at which a caller
stops the run.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count

import numpy as np

from halfway.core.missing import NONE
from halfway.sim.engine.changes import Changes
from halfway.sim.metrics.deliveries import HeardEvents
from halfway.sim.metrics.group_views import (
    MOST_LISTED,
    forget_view,
    group_views,
    hear_announcement,
    nearest_member,
    suspect_member,
)
from halfway.sim.metrics.request_accounting import RequestTally
from halfway.sim.metrics.turns import Turns
from halfway.world.outages import LOST, NODE_DOWN
from halfway.world.workload.groups.group_workload import LEAVES
from halfway.world.workload.groups.request_workload import (
    REPLY,
    REQUEST,
    WRITE,
    ReplicatedResources,
    ResourceEvent,
)

# Kinds of entries, in their order at one time: a node goes down or comes up, a node hears an event,
# a write is published, a group begins a write, a client begins a request, the wait for a reply
# ends, the wait for the last reply ends.
_TURNS, _HEARS, _WRITTEN, _WRITES, _ASKS, _WAITED, _ENDS = range(7)
_OF_CLIENTS, _OF_WRITES = 1, 2  # random streams of stays and of groups


@dataclass
class _Open:
    """A request without a reply yet."""

    client: int
    since: float = 0.0
    member: int = int(NONE)  # the member asked last
    tries: int = 0


class RequestLoop:
    """The request loop of a run: the events that clients and members hear, and the events that they
    publish.
    """

    def __init__(self, demand: ReplicatedResources, n: int, tally: RequestTally) -> None:
        self._demand, self._rules, self._tally = demand, demand.rules, tally
        self._stays = stays = demand.stays
        self._is_up = np.ones(n, bool)
        self._turns, self._order = Turns(), count()
        self._due: list[tuple[float, int, int, tuple[int, ...]]] = []  # a heap
        self._handlers: tuple[Callable[..., None], ...] = (
            self._turn,
            self._hear,
            self._written,
            self._write,
            self._ask,
            self._waited,
            self._ended,
        )
        self._open: dict[int, _Open] = {}
        self._answered: set[int] = set()  # requests, by the number of the event
        self._of_row: list[list[int]] = [[] for _ in range(n)]
        for k, stay in enumerate(stays):
            self._of_row[stay.row].append(k)
        most = max(map(len, demand.replicas), default=0)
        self._views = group_views(len(stays), min(most, MOST_LISTED))
        self._version = np.full(len(stays), NONE)  # the newest write that a replica has
        self._newest, self._begun = np.full(demand.topics, NONE), [0] * demand.topics
        self._random = {
            k: self._stream(stays[k].row, stays[k].group, _OF_CLIENTS)
            for clients in demand.clients
            for k in clients
        }
        self._writing = [self._stream(0, g, _OF_WRITES) for g in range(len(demand.replicas))]
        for k in self._random:
            self._ask_next(max(stays[k].from_s, demand.start_s), k)
        for group in range(len(demand.replicas)):
            self._write_next(demand.start_s, group)

    def _stream(self, row: int, group: int, of: int) -> np.random.Generator:
        return np.random.default_rng((self._demand.seed, row, group, of))

    @property
    def reaction_s(self) -> float:
        """The seconds after which applications in the request loop react to an event.

        The loop knows each event of an application this long before its publication.
        """
        return self._rules.reaction_s

    def hear(self, changes: Changes, heard: HeardEvents) -> None:
        """Let the request loop hear of the changes that the engine applied, and of the events that
        rows heard, in any order.
        """
        t, kind, node, memory = self._turns.of_nodes(changes)
        for k in range(len(t)):
            lost = memory[k] == LOST
            self._push(float(t[k]), _TURNS, int(node[k]), int(kind[k] != NODE_DOWN), int(lost))
        columns = (column.tolist() for column in heard)
        for number, there, when, distance in zip(*columns, strict=True):
            if number >= 0:
                self._push(when, _HEARS, there, number, distance)

    def act(self, until: float) -> None:
        """Let clients and members of the request loop act on all entries before a time
        (seconds).
        """
        while self._due and self._due[0][0] < until:
            at, what, _, about = heapq.heappop(self._due)
            self._handlers[what](at, *about)

    def settle(self, until: float) -> None:
        """Let clients and members of the request loop act up to a time (seconds), and tally the
        replicas that are stale there.
        """
        self.act(until)
        there = [k for k in range(len(self._stays)) if self._has_replica(k, until)]
        self._tally.replicas = len(there)
        self._tally.stale_replicas = sum(self._is_stale(k) for k in there)

    def _push(self, at: float, what: int, *about: int) -> None:
        heapq.heappush(self._due, (at, what, next(self._order), about))

    def _is_there(self, k: int, at: float) -> bool:
        stay = self._stays[k]
        return bool(stay.from_s <= at < stay.until_s and self._is_up[stay.row])

    def _has_replica(self, k: int, at: float) -> bool:
        return self._stays[k].publishes and self._is_there(k, at)

    def _is_stale(self, k: int) -> bool:
        return bool(self._version[k] < self._newest[self._stays[k].group])

    def _send(self, at: float, what: int, sender: int, receiver: int, number: int) -> None:
        """Let a group member publish an event, `reaction_s` after its cause."""
        event = ResourceEvent(what, sender, receiver, number)
        self._demand.publish(at + self.reaction_s, event)

    def _turn(self, at: float, row: int, is_up: int, lost: int) -> None:
        """Let a node go down or come up; its members and clients lose their knowledge with its
        memory.
        """
        del at
        self._is_up[row] = is_up
        if is_up and lost:
            self._version[self._of_row[row]] = NONE
            for k in self._of_row[row]:
                forget_view(self._views, k)
            forgotten = [
                r
                for r, open_request in self._open.items()
                if self._stays[open_request.client].row == row
            ]
            for request in forgotten:
                del self._open[request]

    def _hear(self, at: float, row: int, event: int, hops: int) -> None:
        """Let the members of a node hear an event."""
        said, what = self._demand.said[event]
        of_resource = self._demand.event_of(event)
        if of_resource is not None and of_resource.what == REPLY:
            self._served(at, row, of_resource)
        elif of_resource is not None and of_resource.what == REQUEST:
            self._reply(at, row, of_resource, event)
        else:
            for k in self._of_row[row]:
                if self._stays[k].group != self._stays[said].group or not self._is_there(k, at):
                    continue
                if of_resource is not None:
                    self._version[k] = max(self._version[k], of_resource.number)
                elif not self._stays[k].publishes:
                    holds_s, leaves = self._demand.lifetime_s, what == LEAVES
                    hear_announcement(self._views, k, said, event, holds_s, leaves, hops, at)

    def _write_next(self, at: float, group: int) -> None:
        every_s = self._rules.writes_every_s
        if np.isfinite(every_s):
            self._push(at + self._writing[group].exponential(every_s), _WRITES, group)

    def _write(self, at: float, group: int) -> None:
        """Let a random member with a replica write, by CAST to the group."""
        self._write_next(at, group)
        after = at + self.reaction_s
        there = [
            k
            for k in self._demand.replicas[group]
            if self._is_there(k, at) and after < self._stays[k].until_s
        ]
        if there:
            writer, number = there[self._writing[group].integers(len(there))], self._begun[group]
            self._begun[group] += 1
            self._send(at, WRITE, writer, int(NONE), number)
            self._push(after, _WRITTEN, writer, number)

    def _written(self, at: float, writer: int, number: int) -> None:
        """Enter the write that a member published, if its node is still up."""
        if self._is_there(writer, at):
            self._tally.writes += 1
            self._version[writer] = number
            self._newest[self._stays[writer].group] = number

    def _ask_next(self, at: float, k: int) -> None:
        self._push(at + self._random[k].exponential(self._rules.every_s), _ASKS, k)

    def _ask(self, at: float, k: int) -> None:
        """Let a client begin a request."""
        self._ask_next(at, k)
        if self._is_there(k, at) and at + self.reaction_s < self._stays[k].until_s:
            request = self._tally.requested
            self._tally.requested += 1
            self._open[request] = _Open(k, at + self.reaction_s)
            self._try(at, request)

    def _try(self, at: float, request: int) -> None:
        """Let a client ask the nearest member in its view, by SEND."""
        open_request = self._open[request]
        open_request.member = int(nearest_member(self._views, open_request.client, at))
        if open_request.member == NONE:
            self._push(at + self.reaction_s, _ENDS, request)
            return
        open_request.tries += 1
        self._send(at, REQUEST, open_request.client, open_request.member, request)
        last = open_request.tries == self._rules.tries
        # The next try follows `reaction_s` later, so that it begins at the time-out.
        waits_s = self._rules.timeout_s + (self.reaction_s if last else 0.0)
        self._push(at + waits_s, _ENDS if last else _WAITED, request)

    def _reply(self, at: float, row: int, asked: ResourceEvent, event: int) -> None:
        """Let a member answer a request once, by SEND to its client."""
        k = asked.receiver
        if self._stays[k].row != row or event in self._answered or not self._is_there(k, at):
            return
        self._answered.add(event)
        self._tally.replies += 1
        self._tally.stale_replies += self._is_stale(k)
        self._send(at, REPLY, k, asked.sender, asked.number)

    def _served(self, at: float, row: int, reply: ResourceEvent) -> None:
        """Let a client hear a reply to its request; the first reply serves the request."""
        open_request = self._open.get(reply.number)
        if open_request is None or self._stays[open_request.client].row != row:
            return
        if self._is_there(open_request.client, at):
            del self._open[reply.number]
            self._tally.served += 1
            self._tally.waited_s += at - open_request.since
            self._tally.fail_overs += open_request.tries - 1

    def _waited(self, at: float, request: int) -> None:
        """Let a client suspect a member that did not reply, and ask the next member."""
        open_request = self._open.get(request)
        if open_request is None:
            return
        if not self._is_there(open_request.client, at):
            del self._open[request]
            return
        suspect_member(self._views, open_request.client, open_request.member)
        self._try(at, request)

    def _ended(self, at: float, request: int) -> None:
        """End a request without a reply: after its last try, or without a member to ask."""
        open_request = self._open.pop(request, None)
        if open_request is not None and self._is_there(open_request.client, at):
            if open_request.member != NONE:
                suspect_member(self._views, open_request.client, open_request.member)
            self._tally.unserved += 1
            self._tally.fail_overs += max(open_request.tries - 1, 0)
