"""The requests and answers of the control socket, each a JSON object on one line.

A client connects, writes one request, and reads answers until the node closes the connection.
"""

import math
from typing import Any

import msgspec

from halfway.live.members import MemberState
from halfway.live.mesh import Level

MOST_LINE = 1 << 20  # bytes of a line


class _Request(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="do"):
    """A control request to a node of a process; without a name, to its first node."""

    node: str = ""


class PublishRequest(_Request, frozen=True, tag="publish"):
    """A request to publish events; the answer `Done` comes when the node has taken all of them."""

    topic: str = ""
    payloads: list[bytes] = []
    level: Level = Level.BEST_EFFORT
    retain: bool = False
    expiry_s: float | None = None
    link_s: float = 0.0  # seconds to wait for a neighbour


class SubscribeRequest(_Request, frozen=True, tag="subscribe"):
    """A request to subscribe; each event is an answer `Arrived`, until the client disconnects."""

    filter: str = ""


class StatusRequest(_Request, frozen=True, tag="status"):
    """A request for the status of a node; the answer is an object."""


class Ping(_Request, frozen=True, tag="ping"):
    """A request to ping a neighbour, by name or id; each reply is an answer `Pong`."""

    to: str = ""
    count: int = 4


class RecordRequest(_Request, frozen=True, tag="record"):
    """A request to record a node's inputs into a file on its machine, for a number of seconds."""

    path: str = ""
    seconds: float = 10.0


class MoveRequest(_Request, frozen=True, tag="move"):
    """A request to move a node whose system has positions; x and y in metres."""

    x: float = 0.0
    y: float = 0.0


class MembersRequest(_Request, frozen=True, tag="members"):
    """A request for the members that a node of a failure detector knows; each member is an answer
    `MemberAnswer`, then `Ready`.

    follow: whether each later change of a member is an answer too, until the client disconnects.
    """

    follow: bool = False


class RouteRequest(_Request, frozen=True, tag="route"):
    """A request for the route to a node, or of a topic's event; each hop is an answer `Hopped`,
    then `Done`.

    is_topic: whether `to` is a topic. If no node of that name answers, `to` is taken as a topic.
    """

    to: str = ""
    is_topic: bool = False
    seconds: float = 2.0


class Hopped(msgspec.Struct, frozen=True, tag_field="answer", tag="hop"):
    """The control answer of one node on a route: its action, and the seconds there and back."""

    node: int
    name: str
    parent: int
    hops: int
    seconds: float
    why: str
    subscriptions: int

    def after(self, before: "Hopped | None") -> "Hopped":
        """Return this answer of the control socket with the hops and the time of an earlier answer
        of the same node.
        """
        if before is None:
            return self
        return msgspec.structs.replace(self, seconds=before.seconds, hops=before.hops)


class Routed(msgspec.Struct, frozen=True, tag_field="answer", tag="routed"):
    """The last answer of a route request: its target, and the number of nodes that could have
    answered.
    """

    is_topic: bool
    node: int  # answers that began
    neighbours: int
    heard: int


class Done(msgspec.Struct, frozen=True, tag_field="answer", tag="done"):
    """The answer that a request is complete."""

    count: int = 0
    neighbours: int = 0


class Arrived(msgspec.Struct, frozen=True, tag_field="answer", tag="event"):
    """The answer with an event for a subscription."""

    topic: str
    payload: bytes
    publisher: int
    epoch: int
    number: int
    age_s: float
    hops: int
    retained: bool = False
    local: bool = False


class Pong(msgspec.Struct, frozen=True, tag_field="answer", tag="pong"):
    """The answer to one ping of a neighbour; `seconds` is null if no reply came."""

    to: int
    name: str
    number: int
    seconds: float | None


class MemberAnswer(msgspec.Struct, frozen=True, tag_field="answer", tag="member"):
    """The answer with a member that a node knows, or with the new state of a member; see
    `live.members.Member`.
    """

    id: int
    name: str
    state: MemberState
    since_s: float
    incarnation: int


class RefusedAnswer(msgspec.Struct, frozen=True, tag_field="answer", tag="refused"):
    """The answer that the node refuses the request."""

    what: str
    remedy: str = ""


class Ready(msgspec.Struct, frozen=True, tag_field="answer", tag="ready"):
    """The answer that the subscription has begun."""


class StatusAnswer(msgspec.Struct, frozen=True, tag_field="answer", tag="status"):
    """The answer with a node's status."""

    status: dict[str, Any]


ControlRequest = (
    PublishRequest
    | SubscribeRequest
    | StatusRequest
    | Ping
    | RecordRequest
    | RouteRequest
    | MoveRequest
    | MembersRequest
)
Answer = (
    Done | Arrived | Pong | RefusedAnswer | Ready | StatusAnswer | Hopped | Routed | MemberAnswer
)
REQUESTS: msgspec.json.Decoder[ControlRequest] = msgspec.json.Decoder(ControlRequest)
ANSWERS: msgspec.json.Decoder[Answer] = msgspec.json.Decoder(Answer)


def line(one: ControlRequest | Answer) -> bytes:
    """Return a request to the control socket, or an answer of it, as a line of JSON."""
    return msgspec.json.encode(one) + b"\n"


def expiry_of(request: PublishRequest) -> float:
    """Return the expiry of the events of a `PublishRequest` to the control socket in seconds, or
    inf for none.
    """
    return math.inf if request.expiry_s is None else request.expiry_s
