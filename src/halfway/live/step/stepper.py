"""The stepper of a node: its state, its tables, and the entry points of its step kernel."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiler.entry import entry_point, is_stored
from halfway.core.compiler.interpreted import interpreted
from halfway.core.compiler.lent import lent
from halfway.core.door import Door, enter, is_compiled
from halfway.core.message import COMMAND_ARG, MESSAGE
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import outbox
from halfway.core.records.checks import FROM_APPLICATION, FROM_SELF, record_checks
from halfway.live.step import kernel as kernels
from halfway.live.step.kernel import AGED_IN, AGED_OUT, EMITTED, LOGGED, NOW, UNREADABLE, StepTables
from halfway.live.step.system import SystemNode
from halfway.live.step.wire_tables import MOST_BYTES, MOST_TOPICS, wire_tables

INBOX_BYTES = 65_536  # a datagram is not longer
_FIRST_SLOTS = 64  # records that wait at a node; the pool grows
MOST_SLOTS = 65_536
_BLANK = np.zeros((), MESSAGE)
for _field in ("target", "topic", "event", "publisher"):
    _BLANK[_field] = -1


class Emission(NamedTuple):
    """One record that a handler emitted."""

    to: int  # TO_APPLICATION, TO_SELF or TO_NETWORK
    at: float  # seconds: when it is due; the time of the step if it does not wait
    slot: int  # the caller frees it, unless `data` has the record
    data: bytes  # a RECORD frame's content, of a record that leaves at once; else empty


class NoRoom(Exception):
    """The records that wait at a node are as many as its limit allows."""


class Stepper:
    """The stepper of one node. It begins interpreted; `compile` changes over, on the same arrays.

    node: the state and the rules; neighbourhood: row 0 is the node's. incarnation: see the words.
    log: records that reached the handler, kept until `take_log`; 0: none.
    """

    def __init__(
        self, node: SystemNode, neighbourhood: Neighbourhood, *, node_id: int, incarnation: int,
        hashes: npt.NDArray[np.uint64], log: int = 0,
    ) -> None:  # fmt: skip
        self.node, self.neighbourhood, self.compiled = node, neighbourhood, False
        self.on_log: Callable[[], None] | None = None
        most = node.most_emissions
        self.tables = StepTables(
            outbox(0), np.zeros((0, 0), np.uint8), np.array([node_id], np.int32),
            np.array([incarnation], np.uint32), np.zeros(3), node.kinds.ages,
            record_checks(node.kinds, node.limits),
            wire_tables(node.kinds, numbered=node.numbered), hashes,
            np.zeros(MOST_TOPICS, np.int64), np.zeros(MOST_TOPICS, np.int64),
            np.zeros(INBOX_BYTES, np.uint8), np.zeros((most + 1) * MOST_BYTES, np.uint8),
            np.zeros(most, np.int64), np.zeros(most, np.int64), np.zeros(most),
            np.zeros((most, 2), np.int64),
            np.zeros(4, np.int64), np.zeros(log, MESSAGE).view(np.recarray),
        )  # fmt: skip
        self._inbox, self._sent = self.tables.inbox.data, self.tables.sent.data
        self._grow_to(_FIRST_SLOTS + most)

    @property
    def pool(self) -> npt.NDArray[np.void]:
        """The records in the slots of this node."""
        pool: npt.NDArray[np.void] = self.tables.out.pool
        return pool

    def compile(self) -> None:
        """Change over from interpreted to machine code, which is loaded or compiled here."""
        self.compiled = True
        self._open()

    def is_stored(self) -> bool:
        """Whether `compile` finds all machine code in the compile cache."""
        node, tables = self.node, self.tables
        if not is_compiled(node.state, node.rules, self.neighbourhood, tables.out):
            return False
        # The door's type is the same for all protocols, so that the interpreted one will do.
        return all(is_stored(one, *_arguments(one, self._door, lent(tables))) for one in _STEPS)

    def set_time(self, now: float, *, into: float = 0.0, out_of: float = 0.0) -> None:
        """Set the time of the next steps (seconds), and what ages grow by on the way in and out."""
        seconds = self.tables.seconds
        seconds[NOW], seconds[AGED_IN], seconds[AGED_OUT] = now, into, out_of

    def command(self, kind: int, topic: int = -1, arg: int = 0, event: int = -1) -> bool:
        """Let the node handle a command of its application; False if it does not pass the door.

        Raises NoRoom.
        """
        slot = self._claim()
        record = self.pool[slot]
        node_id = self.tables.node_id[0]
        record["kind"], record["source"], record["next"] = kind, node_id, node_id
        record["topic"], record["event"] = topic, event
        record["args"][COMMAND_ARG] = arg
        return self._enter_step(slot, int(FROM_APPLICATION))

    def wake(self, slot: int) -> bool:
        """Let the node handle a record that it sent to itself, and whose delay is over."""
        self._make_room()
        return self._enter_step(slot, int(FROM_SELF))

    def receive(self, data: bytes, topics: list[int]) -> bool:
        """Let the node handle a compact record of a neighbour; False if it is refused.

        topics: the node's numbers of the topics that the frame lists. Raises NoRoom.
        """
        self._make_room()
        end = len(data)
        self._inbox[:end] = data
        for k, topic in enumerate(topics):
            self.tables.numbers[k] = topic
        accepted: bool = self._call(self._receive, 0, end, len(topics))
        return accepted

    def emissions(self) -> list[Emission]:
        """Return what the handler emitted in the last step, in order."""
        tables = self.tables
        count = int(tables.tally[EMITTED])
        if count == 0:
            return []
        columns = (tables.towards, tables.due, tables.slot, tables.span)
        rows = zip(*(column[:count].tolist() for column in columns), strict=True)
        return [
            Emission(to, due, slot, bytes(self._sent[begin:end]))
            for to, due, slot, (begin, end) in rows
        ]

    def transmit(self, slot: int) -> bytes:
        """Return the RECORD frame's content of a record that waited; its slot is free then."""
        end = int(self._call(self._transmit, slot))
        return bytes(self._sent[:end])

    def release(self, slot: int) -> None:
        """Free the slot of an emission that is done with."""
        out = self.tables.out
        out.free[out.tally[0]] = slot
        out.tally[0] += 1

    def release_all(self) -> None:
        """Free every slot: what waited is void, as when the node goes down."""
        out = self.tables.out
        slots = len(out.free)
        out.free[:] = np.arange(slots - 1, -1, -1, dtype=np.uint32)
        out.tally[0] = slots

    def refusals(self) -> npt.NDArray[np.int64]:
        """Return the records refused at the door so far, by `REASONS` of the checks."""
        return self.tables.checks.refused

    def unreadable(self) -> int:
        """Return why the last record that came in could not be read; 0 if it could."""
        return int(self.tables.tally[UNREADABLE])

    def before_change(self) -> None:
        """Let the reader of the log take it: the log is full, or the node's surroundings change."""
        if self.on_log is not None:
            self.on_log()

    def take_log(self) -> npt.NDArray[np.void]:
        """Take the records (MESSAGE) that reached the handler since the last call."""
        count = int(self.tables.tally[LOGGED])
        self.tables.tally[LOGGED] = 0
        return self.tables.log[:count].copy()

    def reenter(self, record: npt.NDArray[np.void]) -> None:
        """Let the handler have a record of a log again, as it was; drop what it emits."""
        out = self.tables.out
        free = int(out.tally[0])
        if self.compiled:
            enter(self._door, 0, record)
        else:
            with np.errstate(over="ignore"):
                interpreted(enter)(self._door, 0, record)
        out.tally[0] = free

    def _claim(self) -> int:
        """Take a free slot with a blank record."""
        self._make_room()
        out = self.tables.out
        out.tally[0] -= 1
        slot = int(out.free[out.tally[0]])
        out.pool[slot] = _BLANK
        return slot

    def _make_room(self) -> None:
        """Make room for the records of one step, and for its entry in the log."""
        if 0 < len(self.tables.log) <= self.tables.tally[LOGGED]:
            self.before_change()
            self.tables.tally[LOGGED] = 0
        needed = self.node.most_emissions + 1
        if self.tables.out.tally[0] < needed:
            slots = len(self.tables.out.free)
            if slots >= MOST_SLOTS:
                raise NoRoom
            self._grow_to(2 * slots + needed)

    def _grow_to(self, slots: int) -> None:
        old, new = self.tables.out, outbox(slots)
        kept = len(old.free)
        new.pool[:kept] = old.pool[:kept]
        # The new slots lie below the free ones of the old pool.
        free = np.concatenate((np.arange(slots - 1, kept - 1, -1), old.free[: old.tally[0]]))
        new.free[: len(free)] = free
        new.tally[:] = len(free), old.tally[1]
        rows = new.pool.view(np.uint8).reshape(-1, MESSAGE.itemsize)
        self.tables = self.tables._replace(out=new, rows=np.asarray(rows))
        self._open()

    def _open(self) -> None:
        """Open the door to the handler, and find the entry points for the tables as they are."""
        tables, node = self.tables, self.node
        lend = lent if self.compiled else _unlent
        self._door = Door(node.state, node.rules, self.neighbourhood, tables.out, lend)
        self._lent = lend(tables)
        self._step, self._receive, self._transmit = (
            entry_point(one, *_arguments(one, self._door, self._lent))
            if self.compiled
            else interpreted(one)
            for one in _STEPS
        )

    def _enter_step(self, slot: int, origin: int) -> bool:
        accepted: bool = self._call(self._step, slot, origin)
        return accepted

    def _call(self, entry: Any, *arguments: int) -> Any:
        takes_door = entry is not self._transmit
        given = (self._door, self._lent, *arguments) if takes_door else (self._lent, *arguments)
        if self.compiled:
            return entry(*given)
        with np.errstate(over="ignore"):
            return entry(*given)


_STEPS: Any = (kernels.step, kernels.receive, kernels.transmit)


def _arguments(step: Any, door: Any, tables: Any) -> tuple[Any, ...]:
    """Arguments of the types with which a step is called."""
    if step is kernels.transmit:
        return tables, 0
    return (door, tables, 0, 0, 0) if step is kernels.receive else (door, tables, 0, 0)


def _unlent(value: Any) -> Any:
    return value
