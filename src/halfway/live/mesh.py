"""The interface `Mesh` between the live runtime and its doors: publish and subscribe by text topic.

A door, such as the MQTT door, uses the network only through a `Mesh`. All methods belong to the
thread of the node's event loop. Topics and filters have the form of MQTT: levels between slashes,
`+` for one level and `#` for the rest. Only a filter that begins with `$` matches a topic that
begins with `$`.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol


class Level(StrEnum):
    """The delivery level of an event."""

    BEST_EFFORT = "best-effort"  # no promise; every drop is counted with its reason
    HOP = "hop"  # each hop is acknowledged and repeated; a crash may lose the event
    KEPT = "kept"  # acknowledged when on disk here; delivered once to the application


class Event(NamedTuple):
    """An event as a subscriber receives it."""

    topic: str
    payload: bytes
    publisher: int  # node id of the node that published it
    epoch: int  # incarnation of that node
    number: int  # the publisher's own number of the event, ascending within the epoch
    level: Level = Level.BEST_EFFORT
    retain: bool = False  # published as the retained value of its topic
    age_s: float = 0.0  # seconds since the publication
    expiry_s: float = float("inf")  # remaining seconds; then the event is void
    properties: bytes = b""  # bytes of a door that the mesh does not read
    local: bool = False  # published at this node
    hops: int = 0  # transmissions from the publisher to here


class MeshSubscription(Protocol):
    """A subscription at this node, until `Mesh.unsubscribe`."""

    filter: str


class Refusal(Exception):
    """The error of an event or subscription that the mesh refuses; `reason` is from a fixed list.

    remedy: what the user can do, or "".
    """

    def __init__(self, reason: str, detail: str = "", remedy: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason, self.remedy = reason, remedy


def no_events(system: str) -> Refusal:
    """Return the refusal of an event or a subscription at the mesh of a failure detector."""
    return Refusal(
        "no events",
        f"system = {system}: expected a system that spreads events, and not a failure detector",
        "choose a node of another system, or see the members with `halfway members`",
    )


class Mesh(Protocol):
    """The network of live nodes as a door sees it."""

    node_id: int
    name: str

    async def publish(
        self,
        topic: str,
        payload: bytes,
        *,
        level: Level = Level.BEST_EFFORT,
        retain: bool = False,
        expiry_s: float = float("inf"),
        properties: bytes = b"",
    ) -> None:
        """Publish an event to any `Mesh`; return when the mesh has taken it, and for the level KEPT
        when it is on disk.

        Waits while the queue is full. An empty payload with `retain` ends the retained value.
        Raises Refusal: "too large", "not permitted", "bad topic", "not kept here", "disk full",
        "closed", "no events".
        """
        ...

    def try_publish(
        self,
        topic: str,
        payload: bytes,
        *,
        level: Level = Level.BEST_EFFORT,
        retain: bool = False,
        expiry_s: float = float("inf"),
        properties: bytes = b"",
    ) -> bool:
        """Publish an event to any `Mesh`; return False, without effect, if the queue is full.

        Raises Refusal as `publish` does. KEPT is not on disk yet when this returns.
        """
        ...

    def subscribe(self, topic_filter: str, callback: Callable[[Event], None]) -> MeshSubscription:
        """Subscribe to a filter on any `Mesh`; `callback` gets each event in the node's event loop.

        Events of this node are included, and marked `local`. Each subscription receives an event
        once, even if other subscriptions match it too. `retained` returns the retained values that
        the node has; the callback does not get them. If a neighbour sends a retained value later,
        the callback gets it as an event with 0 hops, which may be older than the subscription. A
        callback must not block, and must not raise. Raises Refusal: "bad filter", "not permitted",
        "too many subscriptions", "topics full", "no events".
        """
        ...

    def unsubscribe(self, subscription: MeshSubscription) -> None:
        """End a subscription to any `Mesh`; do nothing for an ended subscription."""
        ...

    def retained(self, topic_filter: str) -> list[Event]:
        """Return the retained values of any `Mesh` that match a filter, as this node knows them."""
        ...
