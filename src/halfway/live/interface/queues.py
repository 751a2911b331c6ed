"""The queues of the Python interface: events of a subscription, and changes of members."""

from halfway.live.dropping_queue import DroppingQueue
from halfway.live.members import KnownMember, Members
from halfway.live.mesh import Event, MeshSubscription
from halfway.live.runtime.mesh_node import MeshNode
from halfway.problem import Problem


class Events(DroppingQueue[Event]):
    """The events of one subscription of a Python program: `async for event in …`."""

    def __init__(self, of: MeshNode, topic_filter: str) -> None:
        super().__init__(of.drops)
        self._node, self.filter = of, topic_filter
        self._subscription: MeshSubscription | None = of.subscribe(topic_filter, self.take)

    def end(self) -> None:
        """End the subscription; the program can still read events of the Python interface that have
        arrived.
        """
        if self._subscription is not None:
            self._node.unsubscribe(self._subscription)
            self._subscription = None
        self.finish()


class MemberChanges(DroppingQueue[KnownMember]):
    """The changes of members at a node for a Python program: `async for member in …`."""

    def __init__(self, of: MeshNode) -> None:
        super().__init__(of.drops)
        self._members = members_of(of)
        self._members.follow(self.take)

    def end(self) -> None:
        """End the changes; the program can still read changes of the Python interface that have
        happened.
        """
        self._members.unfollow(self.take)
        self.finish()


def members_of(of: MeshNode) -> Members:
    """Return the members of a node. Raises Problem if its system has none."""
    if of.members is None:
        what = f"system = {of.identity.system}: expected a failure detector"
        raise Problem(
            f"{what}, because other systems have no members", remedy='use halfway.live.node("swim")'
        )
    return of.members
