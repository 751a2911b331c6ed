"""The schema of a scenario file, one class for each table: types, defaults and ranges."""

from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.radio.declarations import IdealRadio, Radio
from halfway.sim.radio.energy import Power
from halfway.world.faults import Fault, Node, drop_defaults
from halfway.world.workload.attribute_space import MOST_ATTRIBUTES
from halfway.world.workload.groups.request_workload import DEFAULT

_MOST_NODES = 10_000_000
MOST_TOPICS = 100_000
LEAST_DELAY_S = 1e-3  # for moving nodes: below it, neighbour lists would change in tiny steps
LEAST_SPEED = 1e-6
Seconds = Annotated[float, Meta(gt=0.0, le=1e9)]
Length = Annotated[float, Meta(ge=1e-6, le=1e9)]
Count = Annotated[int, Meta(ge=1, le=_MOST_NODES)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Range = tuple[Annotated[float, Meta(ge=0.0, le=1e6)], Annotated[float, Meta(ge=0.0, le=1e6)]]


class _Part(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a scenario file; it rejects unknown fields."""


class _Network(_Part, frozen=True, kw_only=True):
    """The network of a scenario file, which states whether its nodes move."""

    moves: ClassVar[bool] = False


class UnitDisk(_Network, frozen=True, kw_only=True, tag_field="kind", tag="unit-disk"):
    """A scenario's unit disk graph: uniform points, linked below a radius or for a mean degree."""

    n: Annotated[int, Meta(ge=2, le=_MOST_NODES)]
    radius: Annotated[float, Meta(gt=0.0, le=2.0)] | None = None
    degree: Annotated[float, Meta(gt=0.0, le=1e6)] | None = None


class FromFile(_Network, frozen=True, kw_only=True, tag_field="kind", tag="file"):
    """A scenario's network from a file: GraphML, CSV, or links separated by blanks."""

    path: str
    source: str | None = None  # columns of both ends; by default the first two
    target: str | None = None
    quality: str = ""  # one column, or two separated by a comma
    over: float | None = None
    under: float | None = None
    both_ways: bool = True
    positions: str | None = None
    partial_positions: bool = False  # accept that some nodes lack a position, and use no position
    largest: bool = True


class Backbone(_Network, frozen=True, kw_only=True, tag_field="kind", tag="waxman"):
    """A scenario's wired network of BRITE's AS-level Waxman model, in kilometres."""

    n: Annotated[int, Meta(ge=2, le=1_000_000)]
    m: Annotated[int, Meta(ge=1, le=100)] = 2
    beta: Annotated[float, Meta(gt=0.0, le=1e6)] = 0.2
    side: Annotated[int, Meta(ge=1, le=10_000_000)] = 1000


class Waypoint(_Network, frozen=True, kw_only=True, tag_field="kind", tag="random-waypoint"):
    """A scenario's random waypoint nodes in a rectangle, in metres and seconds."""

    moves: ClassVar[bool] = True
    n: Annotated[int, Meta(ge=2, le=1_000_000)]
    width: Length
    height: Length
    radius: Length
    speed: Range
    pause: Range = (0.0, 0.0)


class Recorded(_Network, frozen=True, kw_only=True, tag_field="kind", tag="recorded"):
    """A scenario's movement from a file: ns-2 setdest with its churn, or CSV tracks."""

    moves: ClassVar[bool] = True
    path: str
    radius: Length
    begin_s: Annotated[float, Meta(ge=-1e12, le=1e12)] = 0.0  # the file's time at time 0 of the run


class Member(_Part, frozen=True, kw_only=True):
    """A publisher or a subscriber of a scenario whose role begins and ends at given times."""

    node: Annotated[Node, Meta(description="The name of the node.")]
    from_s: Annotated[float, Meta(ge=0.0, le=1e9, description="The begin in s.")] = 0.0
    until_s: Annotated[
        Annotated[float, Meta(gt=0.0, le=1e9)] | None, Meta(description="The end in s.")
    ] = None


class BrokerMember(_Part, frozen=True, kw_only=True):
    """A broker of a scenario that enters and leaves the broker tree at given times."""

    node: Annotated[Node, Meta(description="The name of the broker.")]
    from_s: Annotated[
        float, Meta(ge=0.0, le=1e9, description="The time at which it enters the tree, in s.")
    ] = 0.0
    until_s: Annotated[
        Annotated[float, Meta(gt=0.0, le=1e9)] | None,
        Meta(description="The time at which it leaves the tree, in s."),
    ] = None


RolesByName = str | list[Node | Member] | dict[str, list[Node | Member]]  # or a file
Bytes = Annotated[int, Meta(ge=0, le=1_000_000)]
Attributes = Annotated[
    list[Annotated[int, Meta(ge=1, le=100_000)]], Meta(min_length=1, max_length=MOST_ATTRIBUTES)
]


class Workload(_Part, frozen=True, kw_only=True, tag_field="kind", tag="drawn"):
    """The workload of a scenario: subscribers, publishers and times; the seed draws unnamed
    roles.
    """

    topics: Annotated[int, Meta(ge=1, le=MOST_TOPICS)] = 1
    publishers_each: Count = 1
    subscribers_each: Count = 1
    events: Annotated[int, Meta(ge=0, le=2**31 - 1)] = 10
    every_s: Seconds = 1.0
    start_s: Annotated[float, Meta(ge=0.0, le=1e9)] = 1.0
    arrivals: Literal["regular", "poisson"] = "regular"
    width: Annotated[int, Meta(ge=1, le=100_000)] = 1
    attributes: Attributes | None = None  # values of each; a topic is then a cell of the content
    popularity: Literal["uniform", "zipf"] = "uniform"
    exponent: Annotated[float, Meta(gt=0.0, le=100.0)] = 1.0
    publishers: RolesByName | None = None
    subscribers: RolesByName | None = None
    brokers: list[Node | BrokerMember] | None = None  # of broker trees, the root first
    payload_bytes: Bytes | dict[str, Bytes] | None = None


class RecordedWorkload(_Part, frozen=True, kw_only=True, tag_field="kind", tag="recorded"):
    """A scenario's publications from files, with subscribers by name or drawn by the seed."""

    path: str | list[str]
    columns: dict[str, str] | None = None  # time, node, topic, size -> the columns of the files
    scale: Annotated[float, Meta(gt=0.0, le=1e9)] = 1.0  # seconds per unit of the files' times
    begin: float | None = None  # the files' time at start_s; None: of the earliest event
    start_s: Annotated[float, Meta(ge=0.0, le=1e9)] = 1.0
    nodes: Literal["named", "drawn"] = "named"
    subscribers: RolesByName | None = None
    subscribers_each: Count = 1
    brokers: list[Node | BrokerMember] | None = None
    payload_bytes: Bytes | dict[str, Bytes] | None = None


class FailureDetection(_Part, frozen=True, kw_only=True, tag_field="kind", tag="failure-detection"):
    """A scenario of failure detectors: members monitor each other, and no event is published."""

    start_s: Annotated[float, Meta(ge=0.0, le=1e9)] = 60.0
    members: Annotated[int, Meta(ge=2, le=10_000_000)] | list[Node] | None = None  # None: all nodes


Role = Literal["publish", "subscribe", "both"]


class GroupMember(Member, frozen=True, kw_only=True):
    """A member of a scenario's group: its role, and the times at which it joins and leaves."""

    role: Annotated[
        Role | None,
        Meta(description="The role of this member, in place of the role of all members."),
    ] = None


class Requests(_Part, frozen=True, kw_only=True):
    """A scenario's requests of a resource that the members of a group replicate."""

    clients_each: Count = 10
    every_s: Seconds = DEFAULT.every_s
    timeout_s: Seconds = DEFAULT.timeout_s
    tries: Annotated[int, Meta(ge=1, le=1000)] = DEFAULT.tries
    writes_every_s: Seconds | None = None
    reaction_s: Annotated[float, Meta(ge=1e-3, le=1e3)] = DEFAULT.reaction_s
    resource_bytes: Bytes = DEFAULT.resource_bytes


class GroupWorkload(_Part, frozen=True, kw_only=True, tag_field="kind", tag="groups"):
    """A scenario's groups: members join, announce themselves, list each other, and leave."""

    groups: Annotated[int, Meta(ge=1, le=10_000)] = 1
    members_each: Count = 10
    members: list[Node | GroupMember] | dict[str, list[Node | GroupMember]] | None = None
    role: Role = "both"
    views: Literal["announced", "system"] = "announced"
    join_s: Range = (0.0, 5.0)
    stay_s: Seconds | None = None
    announce_s: Seconds = 10.0
    lifetime_s: Seconds = 35.0
    start_s: Annotated[float, Meta(ge=0.0, le=1e9)] = 30.0
    requests: Requests | None = None  # of the resource that the members replicate


AnyWorkload = Workload | RecordedWorkload | FailureDetection | GroupWorkload


class NodePower(_Part, frozen=True, kw_only=True):
    """The power of a scenario's nodes: watts, battery, and a bit rate that some radios use."""

    tx_w: Annotated[float, Meta(ge=0.0, le=1e6)] = Power().tx_w
    rx_w: Annotated[float, Meta(ge=0.0, le=1e6)] = Power().rx_w
    idle_w: Annotated[float, Meta(ge=0.0, le=1e6)] = Power().idle_w
    bit_rate: Annotated[float, Meta(gt=0.0, le=1e15)] = Power().bit_rate
    battery_j: Annotated[float, Meta(gt=0.0, le=1e12)] | str | None = None  # of all; or a file


class DecisionTable(_Part, frozen=True, kw_only=True):
    """The needs and the minimised cost in a scenario, by which `halfway compare` decides."""

    need: dict[str, float] | None = None  # metric -> its least value; of a cost, its greatest
    minimise: str = ""


class Scenario(_Part, frozen=True, kw_only=True):
    """The fields of a scenario file: times in s, lengths in units of the network or movement."""

    network: UnitDisk | FromFile | Backbone | Waypoint | Recorded
    system: str = "flooding"
    title: str = ""
    seconds: Seconds = 60.0
    seed: Seed = 1
    hello: Literal["sent", "given"] = "sent"
    hello_period_s: Annotated[float, Meta(ge=1e-3, le=1e6)] = 1.0
    hello_neighbours: Annotated[int, Meta(ge=1, le=65_536)] = 65_536
    discovery_delay_s: Annotated[float, Meta(ge=0.0)] = 1.0  # inf: never
    window: Annotated[int, Meta(ge=1, le=1_000_000)] = 256
    stretch: bool = True
    radio: Radio = IdealRadio()
    faults: list[Fault] = []
    workload: AnyWorkload = Workload()
    options: dict[str, dict[str, Any]] = {}  # system -> its options
    power: NodePower = NodePower()
    clock: ClockErrors | None = None  # None: every node reads the time of the run
    sweep: dict[str, list[bool | int | float | str]] = {}  # field -> its values
    decision: DecisionTable = DecisionTable()


# A later version added these fields. `plain` leaves them out at their defaults. So the text of a
# scenario, and the seeds of a comparison that follow from the text, stay the same.
_ADDED = {
    "power": ("battery_j",),
    "workload": (
        "popularity", "exponent", "publishers", "subscribers", "brokers", "payload_bytes",
        "requests", "attributes", "members",
    ),
}  # fmt: skip
_ADDED_ABOVE = ("hello", "hello_period_s", "hello_neighbours", "clock")  # outside of any table


def converted(plain: dict[str, Any]) -> Scenario:
    """Convert plain values to a scenario of the schema; a workload without a kind is drawn.

    Raises msgspec.ValidationError.
    """
    workload = plain.get("workload")
    if isinstance(workload, dict) and "kind" not in workload:
        plain = plain | {"workload": {"kind": "drawn"} | workload}
    return msgspec.convert(_with_columns(plain), Scenario)


def _with_columns(plain: dict[str, Any]) -> dict[str, Any]:
    """Return plain values with names of columns as the schema has them; users write both forms."""
    network: Any = plain.get("network")
    radio = plain.get("radio")
    quality = network.get("quality") if isinstance(network, dict) else None
    if isinstance(quality, list) and all(isinstance(name, str) for name in quality):
        plain = plain | {"network": network | {"quality": ",".join(quality)}}
    if isinstance(radio, dict) and isinstance(names := radio.get("ratio_columns"), str):
        columns = [name.strip() for name in names.split(",")]
        plain = plain | {"radio": radio | {"ratio_columns": columns}}
    return plain


def plain(scenario: Scenario) -> dict[str, Any]:
    """Return a scenario as plain values with their defaults; `converted` does the reverse."""
    fields: dict[str, Any] = msgspec.to_builtins(scenario)
    for table, names in _ADDED.items():
        part = getattr(scenario, table)
        defaults = {field.name: field.default for field in msgspec.structs.fields(part)}
        for name in ("requests",) if isinstance(part, GroupWorkload) else names:
            if name in defaults and getattr(part, name) == defaults[name]:
                del fields[table][name]
    for fault in fields["faults"]:
        drop_defaults(fault)
    for field in msgspec.structs.fields(Scenario):
        if field.name in _ADDED_ABOVE and getattr(scenario, field.name) == field.default:
            del fields[field.name]
    if isinstance(scenario.workload, Workload):
        del fields["workload"]["kind"]
    return fields
