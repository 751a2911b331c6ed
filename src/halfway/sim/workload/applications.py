"""The applications of a run: programs that receive its events, and publish further events.

An application acts `reaction_s` after its cause (`docs/decisions/0067`). So the simulator knows the
events of the next `reaction_s` before it runs on.
"""

from typing import NamedTuple, Protocol

from halfway.core.missing import NONE
from halfway.sim.engine.changes import Changes
from halfway.sim.metrics.deliveries import HeardEvents
from halfway.sim.metrics.request_accounting import RequestTally
from halfway.sim.workload.request_loop import RequestLoop
from halfway.world.workload.demand import Demand
from halfway.world.workload.groups.member_topics import MessagedGroups
from halfway.world.workload.groups.request_workload import ReplicatedResources


class Applications(Protocol):
    """The applications of a run above publish/subscribe."""

    @property
    def reaction_s(self) -> float:
        """The seconds from a cause to the event that an application of a run publishes because of
        it.
        """
        ...

    def hear(self, changes: Changes, heard: HeardEvents) -> None:
        """Let the applications of a run hear of the changes that the engine applied, and of the
        events that rows heard.
        """
        ...

    def act(self, until: float) -> None:
        """Let the applications of a run act on all that they heard before a time (seconds)."""
        ...

    def settle(self, until: float) -> None:
        """Let the applications of a run act up to a time (seconds), where the run stops."""
        ...


class HeardMessage(NamedTuple):
    """A message that a member heard through the mailboxes of applications; sender and viewer are
    numbers of stays.
    """

    at: float  # seconds
    sender: int
    viewer: int
    is_cast: bool  # to the whole group
    hops: int
    data: bytes


class Mailboxes:
    """The mailboxes of group members, whose messages a program outside the run reads and sends.

    The program sends between two pieces of the run (`MessagedGroups.publish`), so the mailboxes
    never act by themselves.
    """

    def __init__(self, demand: MessagedGroups) -> None:
        self._demand, self.reaction_s = demand, demand.reaction_s
        self._stay_of = {(stay.row, stay.group): k for k, stay in enumerate(demand.stays)}
        self.heard: list[HeardMessage] = []  # since the last `taken`

    def hear(self, changes: Changes, heard: HeardEvents) -> None:
        """Enter the messages that members heard into the mailboxes of the run's applications."""
        del changes  # a node that hears is up
        columns = (column.tolist() for column in heard)
        for number, there, t, distance in zip(*columns, strict=True):
            message = None if number < 0 else self._demand.event_of(number)
            if message is None:
                continue
            group = self._demand.stays[message.sender].group
            viewer = self._stay_of.get((there, group))
            if viewer is None or viewer == message.sender:
                continue
            stay, is_cast = self._demand.stays[viewer], bool(message.receiver == NONE)
            listens = stay.subscribes if is_cast else viewer == message.receiver
            if listens and stay.from_s <= t < stay.until_s:
                self.heard.append(
                    HeardMessage(t, message.sender, viewer, is_cast, distance, message.data)
                )

    def act(self, until: float) -> None:
        """Do nothing for the mailboxes of applications: the program outside the run acts."""

    def settle(self, until: float) -> None:
        """Do nothing for the mailboxes of applications at a stop: the program outside the run
        acts.
        """

    def taken(self) -> list[HeardMessage]:
        """Return the messages that the applications' mailboxes received since the last call, in
        order of time.
        """
        found = sorted(self.heard)
        self.heard = []
        return found


def applications_of(demand: Demand, n: int, tally: RequestTally | None) -> Applications | None:
    """Return the applications of a run; None if its workload has none."""
    if isinstance(demand, MessagedGroups):
        return Mailboxes(demand)
    if tally is None or not isinstance(demand, ReplicatedResources):
        return None
    return RequestLoop(demand, n, tally)
