"""The table of the record kinds of a protocol: numbers, names, channels, fields, and roles on the
map.

A protocol declares each kind once; the number is what compiled code compares:

>>> KINDS = Kinds()
>>> PUBLISH = KINDS.command(1, "publish", "publish `event` of `topic`", "topic event")
>>> FLOOD = KINDS.network(2, "flood", "an event, to every neighbour", "topic event")
>>> KINDS.names[2], KINDS[FLOOD].channel
('flood', <Channel.NETWORK: 'network'>)
>>> PARENT = "topic"  # the handler reads message[PARENT]
>>> ACCEPT = KINDS.network(3, "accept", "the receiver is a child", reused={PARENT: "the parent"})
>>> KINDS[ACCEPT].fields
('topic',)

A table may name the ranges of its places and reused fields; `Kind.parts` has the range of each:

>>> from halfway.core.values.ranges import COUNT
>>> ranged = Kinds({"rounds made": COUNT})
>>> ROUND = ranged.timer(4, "round", "the next round", "topic", args={"rounds made": 0})
>>> [(part.name, part.range.form.str) for part in ranged[ROUND].parts()]
[('topic', '<u4'), ('rounds made', '<u4')]
"""

from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import partialmethod
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.message import RECORD, START
from halfway.core.values.ranges import BITS, HEADER, REAL, ValueRange

# The header fields that a protocol fills; the driver fills the others.
FIELDS = {"flags", "target", "topic", "event", "publisher", "epoch", "sequence"}
# The fields that identify an event: its publisher, the publisher's epoch, and its number there.
EVENT_ID = "event publisher epoch"
_SIZE = {array: RECORD[array].shape[0] for array in ("args", "reals")}
# The ranges of places that a table does not name.
_ANY = {"args": BITS, "reals": REAL}
_NOTHING: Mapping[str, int] = MappingProxyType({})
_NO_RANGES: Mapping[str, ValueRange] = MappingProxyType({})
_NO_MEANINGS: Mapping[str, str] = MappingProxyType({})


class Channel(Enum):
    """The channel of a record kind: the source and the receivers of its records."""

    COMMAND = "command"  # from the application, or the driver, to its own node
    NETWORK = "network"  # from a node to one neighbour or to all neighbours
    TIMER = "timer"  # from a node to itself, later
    REPORT = "report"  # from a node to its own application


class Step(NamedTuple):
    """The role on the map of a record kind whose record is a step of a walk."""

    labels: tuple[str, ...]  # labels of these walks on the map
    number: int = -1  # the place in `args` whose remainder picks a label; -1: always the first
    addressed: bool = False  # every neighbour hears the record, but it is a step onto `target` only


class Meets(NamedTuple):
    """The role on the map of a record kind whose record reports a meeting of walks, or the arrival
    of a walk.
    """

    label: str = "walks met"
    fresh: int = -1  # the place in `args` that is 0 on the first hop from the meeting; -1: none


class MapRole(Enum):
    """The role of a record kind on the map: the elements that the map draws for its records."""

    EVENT_HOP = "brings an event one hop further"
    LINK = "makes sender and receiver overlay neighbours"
    CUT = "ends an overlay link"
    OWN_BROKER = "its `topic` is the broker that its sender belongs to"
    HOME_CELL = "only the home cell of its topic sends it"


class Part(NamedTuple):
    """A part of a record that a record kind fills: a header field, or an entry of a vector."""

    name: str  # name of the place without length, or meaning of a reused field
    field: str  # field of the record: a header field, "args" or "reals"
    indices: range  # index in that array; 0 for a header field
    range: ValueRange
    varies: bool  # a vector that need not be full


class Kind(NamedTuple):
    """A record kind: its header `fields`, and the names of its places in `args` and `reals`.

    A place has a name and its first index. A name that ends in [3] is a vector of three places. A
    name that ends in [k] is a vector of variable length, which ends before the next place or with
    the array. `reused` has the fields with another meaning than their names: field -> meaning.
    `ranges` has the ranges of the parts by name. A node also accepts records of the kind from a
    second channel, in the form of `second`.
    """

    number: int
    name: str
    channel: Channel
    meaning: str
    fields: tuple[str, ...] = ()
    args: Mapping[str, int] = _NOTHING  # name of a place -> its first index in `args`
    reals: Mapping[str, int] = _NOTHING
    on_map: MapRole | Step | Meets | None = None
    reused: Mapping[str, str] = _NO_MEANINGS
    ranges: Mapping[str, ValueRange] = _NO_RANGES
    second: "Kind | None" = None  # the same number and name, another channel, perhaps other fields
    age: str = ""  # the place in `reals` that the driver ages, see `Kinds.ages`
    ends: str = ""  # name of the command whose effect this command ends

    @property
    def forms(self) -> tuple["Kind", ...]:
        """The forms of records of a record kind, one for each of its channels."""
        return (self,) if self.second is None else (self, self.second)

    def parts(self) -> list[Part]:
        """Return all parts that a record kind declares for its records: header fields, then vector
        entries.
        """
        parts_of_kind = []
        for field in sorted(self.fields, key=(RECORD.names or ()).index):
            name = self.reused.get(field, field)
            kept = self.ranges.get(name, HEADER[field])
            parts_of_kind.append(Part(name, field, range(1), kept, varies=False))
        for array in ("args", "reals"):
            varying = {name.partition("[")[0] for name in getattr(self, array) if name[-2:] == "k]"}
            for name, indices in self.places(array).items():
                kept = self.ranges.get(name, _ANY[array])
                parts_of_kind.append(Part(name, array, indices, kept, varies=name in varying))
        return parts_of_kind

    def places(self, array: str) -> dict[str, range]:
        """Return the names that a record kind gives to indices of "args" or "reals"."""
        firsts: Mapping[str, int] = getattr(self, array)
        names = {}
        for name, first in firsts.items():
            title, bracket, length = name.partition("[")
            end = first + 1
            if length == "k]":
                end = min([other for other in firsts.values() if other > first] + [_SIZE[array]])
            elif bracket:
                end = first + int(length.removesuffix("]"))
            names[title] = range(first, end)
        return names


class Kinds:
    """The table of record kinds of a protocol, by number, in the order of declaration.

    ranges: ranges of places, of header fields, and of reused fields, by name. One name has one
    range in a table. A place without a range holds any number.
    """

    def __init__(self, ranges: Mapping[str, ValueRange] = _NO_RANGES) -> None:
        self._kinds: dict[int, Kind] = {}
        self._ranges = ranges

    def declare(
        self, channel: Channel, number: int, name: str, meaning: str, fields: str = "",
        args: Mapping[str, int] = _NOTHING, reals: Mapping[str, int] = _NOTHING,
        on_map: MapRole | Step | Meets | None = None, reused: Mapping[str, str] = _NO_MEANINGS,
        also: Channel | None = None, age: str = "", ends: str = "",
    ) -> np.uint8:  # fmt: skip
        """Declare a record kind on a channel; return its number.

        fields: names of header fields, separated by blanks, without the fields of `reused`. also: a
        second channel of the same records. age: a name of `reals`. ends: the name of a command.
        """
        words = (*fields.split(), *reused)
        kind = Kind(number, name, channel, meaning, words, args, reals, on_map, reused)
        kind = kind._replace(ranges=self._ranges, age=age, ends=ends)
        return self._add(kind._replace(second=kind._replace(channel=also)) if also else kind)

    command = partialmethod(declare, Channel.COMMAND)
    network = partialmethod(declare, Channel.NETWORK)
    timer = partialmethod(declare, Channel.TIMER)
    report = partialmethod(declare, Channel.REPORT)

    def also_command(
        self,
        number: int | np.uint8,
        meaning: str,
        fields: str = "",
        args: Mapping[str, int] = _NOTHING,
        reused: Mapping[str, str] = _NO_MEANINGS,
    ) -> None:
        """Declare the form of commands with the number of a network kind.

        No record may fit both forms, because a handler does not know the channel of a record.
        """
        kind, words = self[int(number)], (*fields.split(), *reused)
        form = Kind(kind.number, kind.name, Channel.COMMAND, meaning, words, args, reused=reused)
        _check(form)
        self._kinds[kind.number] = kind._replace(second=form._replace(ranges=self._ranges))

    def start_event(self) -> np.uint8:
        """Declare the start event as a record kind of this protocol; return its number."""
        return self.command(int(START), "start", "the node starts, or comes back from a crash")

    def include(self, other: Iterable[Kind]) -> None:
        """Add the record kinds of another protocol's table to this table.

        Raises ValueError if a number or a name is taken.
        """
        for kind in other:
            self._add(kind)

    @property
    def names(self) -> dict[int, str]:
        """The names of the record kinds, by number."""
        return {kind.number: kind.name for kind in self}

    @property
    def starts(self) -> bool:
        """Whether one of the record kinds is the start event."""
        return int(START) in self._kinds

    @property
    def ages(self) -> npt.NDArray[np.int8]:
        """[256] for each record kind, the index in `reals` of its age in seconds, or -1; [0] if no
        kind has an age.

        Nodes share no clock. So the driver measures, at the link layer, the time of a record from
        the handler of its sender to the handler of its receiver, and adds this time to the age that
        the sender wrote. The receiver may be the sender itself, later. A node that keeps a copy of
        a record adds the time until it emits the copy, as `protocols.parts.reliable_hop` does.
        """
        places = np.full(256, -1, np.int8)
        for kind in self:
            if kind.age:
                places[kind.number] = kind.reals[kind.age]
        return places if places.max() >= 0 else places[:0]

    def number(self, name: str) -> int:
        """Return the number of a record kind by its name. Raises KeyError for an unknown name."""
        for kind in self:
            if kind.name == name:
                return kind.number
        raise KeyError(name)

    def __getitem__(self, number: int) -> Kind:
        return self._kinds[int(number)]

    def __contains__(self, number: int) -> bool:
        return int(number) in self._kinds

    def __iter__(self) -> Iterator[Kind]:
        return iter(self._kinds.values())

    def __len__(self) -> int:
        return len(self._kinds)

    def _add(self, kind: Kind) -> np.uint8:
        if not 0 <= kind.number <= int(START) or kind.number in self._kinds:
            raise ValueError(f"kind {kind.number} ({kind.name}): expected a free number 0…255")
        if kind.name in self.names.values():
            raise ValueError(f"kind {kind.number}: the name '{kind.name}' is taken")
        _check(kind)
        self._kinds[kind.number] = kind
        return np.uint8(kind.number)


def _check(kind: Kind) -> None:
    """Raise ValueError if a record kind declares a field or place wrongly."""
    if unknown := set(kind.fields) - FIELDS:
        raise ValueError(f"kind {kind.number} ({kind.name}): unknown field {unknown}")
    if len(set(kind.fields)) < len(kind.fields):
        raise ValueError(f"kind {kind.number} ({kind.name}): a field is listed twice")
    for array in ("args", "reals"):
        filled = [index for place in kind.places(array).values() for index in place]
        if len(set(filled)) < len(filled) or not set(filled) <= set(range(_SIZE[array])):
            what = f"kind {kind.number} ({kind.name}): {array} {filled}"
            raise ValueError(f"{what}: expected distinct places below {_SIZE[array]}")


def carrying(kinds: Kinds) -> list[int]:
    """Return the numbers of the record kinds of a table whose records carry an event's payload.

    Kinds that carry an event have the map role of bringing the event one hop further. A protocol
    without such a kind carries the payload in every network record with the field `event`.
    """
    numbers = [kind.number for kind in kinds if kind.on_map is MapRole.EVENT_HOP]
    network = (kind for kind in kinds if kind.channel is Channel.NETWORK)
    return numbers or [
        kind.number for kind in network if "event" in kind.fields and "event" not in kind.reused
    ]
