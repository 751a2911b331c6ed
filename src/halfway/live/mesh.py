"""The interface `Mesh` between the live runtime and its doors: publish and subscribe by text topic.

A door, such as the one for MQTT, speaks to the network through a `Mesh` and knows nothing else of
it. All methods belong to the thread of the node's event loop. Topics and filters have the form of
MQTT: levels between slashes, `+` for one level and `#` for the rest. Only a filter that begins with
`$` matches a topic that begins so.
"""

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple, Protocol


class Level(StrEnum):
    """The delivery level of an event."""

    BEST_EFFORT = "best-effort"  # no promise; every drop is counted with its reason
    HOP = "hop"  # each hop is acknowledged and repeated; a crash may lose the event
    KEPT = "kept"  # acknowledged once it is on disk here; once to the application


class Event(NamedTuple):
    """An event as a subscriber receives it."""

    topic: str
    payload: bytes
    publisher: int  # node id of the node that published it
    epoch: int  # incarnation of that node
    number: int  # the publisher's own number of the event, ascending within the epoch
    level: Level = Level.BEST_EFFORT
    retain: bool = False  # published as the retained value of its topic
    age_s: float = 0.0  # since its publication
    expiry_s: float = float("inf")  # remaining; the event is void after it
    properties: bytes = b""  # what a door keeps with an event; the mesh does not read it
    local: bool = False  # published at this node
    hops: int = 0  # transmissions from the publisher to here


class MeshSubscription(Protocol):
    """A subscription at this node, until `Mesh.unsubscribe`."""

    filter: str


class Refusal(Exception):
    """The error of an event or subscription that the mesh does not take; `reason` is from a fixed
    list.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason


class Mesh(Protocol):
    """The network of live nodes as a door sees it."""

    node_id: int
    name: str

    async def publish(
        self, topic: str, payload: bytes, *, level: Level = Level.BEST_EFFORT,
        retain: bool = False, expiry_s: float = float("inf"), properties: bytes = b"",
    ) -> None:  # fmt: skip
        """Publish an event. Return when the mesh has taken it; with KEPT, when it is on disk.

        Waits while the queue is full. An empty payload with `retain` ends the retained value.
        Raises Refusal: "too large", "not permitted", "bad topic", "not kept here", "disk full",
        "closed".
        """
        ...

    def try_publish(
        self, topic: str, payload: bytes, *, level: Level = Level.BEST_EFFORT,
        retain: bool = False, expiry_s: float = float("inf"), properties: bytes = b"",
    ) -> bool:  # fmt: skip
        """Publish an event to the mesh; return False, without effect, if the queue is full.

        Raises Refusal as `publish` does. KEPT is not on disk yet when this returns.
        """
        ...

    def subscribe(self, topic_filter: str, callback: Callable[[Event], None]) -> MeshSubscription:
        """Subscribe to a filter on the mesh; `callback` gets each event in the node's event loop.

        Events published at this node are included, as `local`. Each subscription receives an
        event once, whatever other subscriptions match it. Retained values are not delivered here:
        `retained` returns them. A callback must not block, and must not raise.
        Raises Refusal: "bad filter", "not permitted", "too many subscriptions", "topics full".
        """
        ...

    def unsubscribe(self, subscription: MeshSubscription) -> None:
        """End a subscription to the mesh; no effect on an ended one."""
        ...

    def retained(self, topic_filter: str) -> list[Event]:
        """Return the mesh's retained values that match a filter, as this node knows them."""
        ...
