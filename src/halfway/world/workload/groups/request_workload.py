"""The workload of a resource that members of a group replicate: writes, requests and replies.

[drw §2] "duplicate the available resources at different places in the network". A member that
publishes has a replica, and a member that only subscribes is a client. A write is CAST to the
group. A request and its reply are SEND to one member. The paper asks for "consistency" and names no
protocol for it. Here no protocol repairs a stale replica.
"""

import math
from dataclasses import dataclass
from typing import NamedTuple

from halfway.problem import Problem
from halfway.world.workload.groups.member_topics import AddressedGroups

WRITE, REQUEST, REPLY = range(3)  # what an event of a resource is
REQUEST_BYTES = 8


class RequestRules(NamedTuple):
    """The rules by which clients request a replicated resource, and members write it."""

    every_s: float = 10.0  # mean seconds between two requests of a client
    timeout_s: float = 2.0  # without a reply for so long, a client suspects the member
    tries: int = 3  # members that a client asks at most
    writes_every_s: float = math.inf  # mean seconds between two writes in a group; inf: none
    reaction_s: float = 0.1  # from what an application hears to the event that follows from it
    resource_bytes: int = 32  # of a reply and of a write


DEFAULT = RequestRules()


class ResourceEvent(NamedTuple):
    """An event of a replicated resource; sender and receiver are numbers of stays."""

    what: int
    sender: int
    receiver: int  # NONE: the whole group
    number: int  # of the write in its group, or of the request


@dataclass
class ReplicatedResources(AddressedGroups[ResourceEvent]):
    """The demand of groups whose members replicate a resource. Each group has one resource.

    The applications put their events in by `AddressedGroups.publish` while a run goes on. Each
    member has a topic of its own, on which clients and replicas speak with each other.
    Raises Problem for rules that are out of range, and for groups without announcements.
    """

    rules: RequestRules = DEFAULT

    def __post_init__(self) -> None:
        super().__post_init__()
        self._check_rules()
        # The members that have a replica, and the clients, of each group, by number.
        self.replicas: list[list[int]] = [[] for _ in range(self._groups)]
        self.clients: list[list[int]] = [[] for _ in range(self._groups)]
        for number, stay in enumerate(self.stays):
            (self.replicas if stay.publishes else self.clients)[stay.group].append(number)
        self._add_member_topics(
            [(self.clients if stay.publishes else self.replicas)[stay.group] for stay in self.stays]
        )

    def _check_rules(self) -> None:
        rules = self.rules
        for name in ("every_s", "timeout_s", "writes_every_s", "reaction_s"):
            if not getattr(rules, name) > 0.0:
                value = getattr(rules, name)
                raise Problem(f"requests.{name} = {value:g}: expected a time above 0")
        if rules.tries < 1:
            raise Problem(f"requests.tries = {rules.tries}: expected at least 1")
        if not rules.reaction_s < rules.timeout_s:
            what = f"requests.timeout_s = {rules.timeout_s:g}: expected a time above reaction_s"
            raise Problem(f"{what} = {rules.reaction_s:g}", remedy="raise timeout_s")
        if self.announce_s == 0.0:
            what = "requests: expected members that announce themselves"
            raise Problem(what, remedy='set views = "announced", or leave out requests')

    def _bytes(self, event: ResourceEvent) -> int:
        """Return the bytes of payload of a resource's event: request or resource."""
        return REQUEST_BYTES if event.what == REQUEST else self.rules.resource_bytes
