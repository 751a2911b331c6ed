"""The stepper of a live node: the state, the tables of the record kernel, the entry points of the
record kernel and of the datagram kernel, and the emissions of a step.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.compiler.cache import is_stored
from halfway.core.compiler.entry import entry_point
from halfway.core.compiler.interpreted import interpreted
from halfway.core.compiler.lent import lent
from halfway.core.compiler.quick_records import quick
from halfway.core.door import Door, enter, is_compiled
from halfway.core.message import RECORD
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import outbox
from halfway.core.records.checks import FROM_APPLICATION, FROM_SELF, REASONS, record_checks
from halfway.live.step import datagram_kernel, record_kernel
from halfway.live.step.datagram_flow import Flow, quiet
from halfway.live.step.emission import Emission, NoCapacity
from halfway.live.step.record_head import write_command
from halfway.live.step.record_kernel import (
    AGED_IN,
    AGED_OUT,
    EMITTED,
    LOGGED,
    NOW,
    UNREADABLE,
    StepTables,
)
from halfway.live.step.system_node import SystemNode
from halfway.live.step.wire_tables import MOST_BYTES, MOST_TOPICS, wire_tables

INBOX_BYTES = 65_536  # a datagram is not longer
_FIRST_SLOTS = 64  # records that wait at a node; the pool grows
MOST_SLOTS = 65_536


class Stepper:
    """The stepper of one live node. It begins interpreted, and `compile` changes it to machine code
    on the same arrays.

    node: the state and the rules. neighbourhood: row 0 is the node's. log: number of handled
    records that are kept until `take_log`. flow: the tables of the datagram kernel, for a node on a
    socket; None: records arrive and leave one by one.
    """

    def __init__(
        self, node: SystemNode, neighbourhood: Neighbourhood, *, node_id: int, incarnation: int,
        hashes: npt.NDArray[np.uint64], log: int = 0, flow: Flow | None = None,
    ) -> None:  # fmt: skip
        self.flow = flow
        self.node, self.neighbourhood, self.compiled = node, neighbourhood, False
        self.on_log: Callable[[], None] | None = None
        most = node.most_emissions
        self.tables = StepTables(
            out=outbox(0), rows=np.zeros((0, 0), np.uint8), node_id=np.array([node_id], np.int32),
            incarnation=np.array([incarnation], np.uint32), seconds=np.zeros(3),
            ages=node.kinds.ages, checks=record_checks(node.kinds, node.limits),
            wire=wire_tables(node.kinds, numbered=node.numbered), hashes=hashes,
            numbers=np.zeros(MOST_TOPICS, np.int64), listed=np.zeros(MOST_TOPICS, np.int64),
            inbox=np.zeros(INBOX_BYTES, np.uint8), sent=np.zeros((most + 1) * MOST_BYTES, np.uint8),
            slot=np.zeros(most, np.int64), towards=np.zeros(most, np.int64), due=np.zeros(most),
            span=np.zeros((most, 2), np.int64), tally=np.zeros(4, np.int64),
            log=np.zeros(log, RECORD).view(np.recarray),
        )  # fmt: skip
        tables = self.tables
        self._inbox, self._sent = tables.inbox.data, tables.sent.data
        self._seconds: Any = tables.seconds.data
        self._tally, self._node_id = tables.tally.data, node_id
        self._emitted = (
            tables.towards.data, tables.due.data, tables.slot.data, tables.span.reshape(-1).data,
        )  # fmt: skip
        self._grow_to(_FIRST_SLOTS + most)

    @property
    def pool(self) -> npt.NDArray[np.void]:
        """The records in the slots of the stepper's node."""
        return self._pool

    def compile(self) -> None:
        """Change the stepper over from interpreted to machine code, which is loaded or compiled
        here.
        """
        self.compiled = True
        self._open()

    def is_stored(self) -> bool:
        """Return whether the stepper's `compile` finds all machine code in the compile cache."""
        node, tables = self.node, self.tables
        if not is_compiled(node.state, node.rules, self.neighbourhood, tables.out):
            return False
        # All doors have the same type, so the door of the interpreted handler is enough.
        steps = _STEPS if self.flow is None else _STEPS + _FLOWS
        tables_lent, flow = lent(tables), () if self.flow is None else (lent(self.flow.tables),)
        return all(
            is_stored(function, *self._given(function, tables_lent, flow), *_EXAMPLES[function])
            for function in steps
        )

    def set_time(self, now: float, *, into: float = 0.0, out_of: float = 0.0) -> None:
        """Set the time of the stepper's next steps (seconds), and the times by which ages grow on
        arrival and departure.
        """
        seconds = self._seconds
        seconds[NOW], seconds[AGED_IN], seconds[AGED_OUT] = now, into, out_of

    def command(self, kind: int, topic: int = -1, arg: int = 0, event: int = -1) -> bool:
        """Let the stepper's node handle a command of its application.

        Return False if it does not pass the door.

        Raises NoRoom.
        """
        self.make_room()
        out = self.tables.out
        out.tally[0] -= 1
        slot = int(out.free[out.tally[0]])
        write_command(self._bytes, slot, self._node_id, kind, topic, arg, event)
        return bool(self._step(slot, int(FROM_APPLICATION)))

    def wake(self, slot: int) -> bool:
        """Let the stepper's node handle a record that it sent to itself, after the delay of the
        record.
        """
        self.make_room()
        return bool(self._step(slot, int(FROM_SELF)))

    def receive(self, data: bytes, topics: list[int]) -> bool:
        """Let the stepper's node handle a compact record of a neighbour. Return False if it is
        refused.

        topics: the node's numbers of the topics that the frame lists. Raises NoRoom.
        """
        self.make_room()
        end = len(data)
        self._inbox[:end] = data
        for k, topic in enumerate(topics):
            self.tables.numbers[k] = topic
        return bool(self._receive(0, end, len(topics)))

    def emissions(self) -> list[Emission]:
        """Return the records that the handler of the stepper emitted in the last step, in order."""
        count = self._tally[EMITTED]
        towards, due, slot, span = self._emitted
        return [
            Emission(towards[k], due[k], slot[k], bytes(self._sent[span[2 * k] : span[2 * k + 1]]))
            for k in range(count)
        ]

    def emit_waiting(self, slot: int) -> None:
        """Make a waiting record of the stepper its only emission, at the present time."""
        self._transmit(slot)

    def handle_frames(self, place: int, frames: bytes, at: int) -> tuple[int, int]:
        """Let the stepper take the frames of the neighbour at a place; return the place and the
        reason of the stop.

        See `datagram_kernel.handle_frames`. Only a compiled node has this method.
        """
        end = len(frames)
        self._inbox[:end] = frames
        stopped, why = divmod(self._take(place, at, end), datagram_kernel.REASONS)
        return stopped, why

    def send_emissions(self) -> None:
        """Let the stepper's datagram kernel send the immediate emissions; `emissions` has the
        others.
        """
        if self._tally[EMITTED]:
            self._send_emissions()

    def release(self, slot: int) -> None:
        """Free the slot of a stepper's emission that the caller has handled."""
        out = self.tables.out
        out.free[out.tally[0]] = slot
        out.tally[0] += 1

    def release_all(self) -> None:
        """Free every slot of the stepper, because the node goes down and all waiting records are
        void.
        """
        out = self.tables.out
        slots = len(out.free)
        out.free[:] = np.arange(slots - 1, -1, -1, dtype=np.uint32)
        out.tally[0] = slots

    def refusals(self) -> dict[str, int]:
        """Return the records refused at the stepper's door so far, by reason."""
        counts = self.tables.checks.refused.tolist()
        return {why: count for why, count in zip(REASONS, counts, strict=True) if count}

    def unreadable(self) -> int:
        """Return the reason why the stepper could not read the last received record, or 0."""
        return int(self.tables.tally[UNREADABLE])

    def before_change(self) -> None:
        """Let the reader of the stepper's log take it, because the log is full or the node's
        surroundings change.
        """
        if self.on_log is not None:
            self.on_log()

    def take_log(self) -> npt.NDArray[np.void]:
        """Take the records that reached the stepper's handler since the last call."""
        count = int(self.tables.tally[LOGGED])
        self.tables.tally[LOGGED] = 0
        return self.tables.log[:count].copy()

    def reenter(self, record: npt.NDArray[np.void]) -> None:
        """Let the stepper's handler have a record of a log again, unchanged; drop the emissions."""
        out = self.tables.out
        free = int(out.tally[0])
        if self.compiled:
            enter(self._door, 0, record)
        else:
            with np.errstate(over="ignore"):
                interpreted(enter)(self._door, 0, record)
        out.tally[0] = free

    def make_room(self) -> None:
        """Make room in the stepper for the records of one step, and for its entry in the log.
        Raises NoRoom.
        """
        if 0 < len(self.tables.log) <= self.tables.tally[LOGGED]:
            self.before_change()
            self.tables.tally[LOGGED] = 0
        needed = self.node.most_emissions + 1
        if self.tables.out.tally[0] < needed:
            slots = len(self.tables.out.free)
            if slots >= MOST_SLOTS:
                raise NoCapacity
            self._grow_to(2 * slots + needed)

    def _grow_to(self, slots: int) -> None:
        old, new = self.tables.out, outbox(slots)
        kept = len(old.free)
        new.pool[:kept] = old.pool[:kept]
        # The new slots lie below the free ones of the old pool.
        free = np.concatenate((np.arange(slots - 1, kept - 1, -1), old.free[: old.tally[0]]))
        new.free[: len(free)] = free
        new.tally[:] = len(free), old.tally[1]
        rows = new.pool.view(np.uint8).reshape(-1, RECORD.itemsize)
        # A record of a record array takes longer to read.
        self._pool: npt.NDArray[np.void] = new.pool.view(RECORD, np.ndarray)
        self._bytes = rows.reshape(-1).data
        self.tables = self.tables._replace(out=new, rows=np.asarray(rows))
        self._open()

    def _open(self) -> None:
        """Open the door to the handler of the stepper, and find the entry points for the present
        tables.
        """
        tables, node = self.tables, self.node
        lend = lent if self.compiled else quick
        self._door = Door(node.state, node.rules, self.neighbourhood, tables.out, lend)
        self._lent = lend(tables)
        self._step, self._receive, self._transmit = (
            self._entry(function, *self._given(function, self._lent, ())) for function in _STEPS
        )
        if self.flow is not None:
            self.flow.find_entry_points(compiled=self.compiled)
            flow = (self.flow.lent,)
            self._take, self._send_emissions = (
                self._entry(function, *self._given(function, self._lent, flow))
                for function in _FLOWS
            )

    def _given(self, step: Any, tables: Any, flow: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the first arguments of each call of the stepper's record kernel.

        flow: the tables of the datagram kernel, for its own steps.
        """
        return {
            record_kernel.emit_waiting: (tables,),
            datagram_kernel.send_emissions: (tables, *flow),
            datagram_kernel.handle_frames: (self._door, tables, *flow),
        }.get(step, (self._door, tables))

    def _entry(self, step: Any, *given: Any) -> Callable[..., Any]:
        """Return the stepper's entry point of a step with its first arguments."""
        if self.compiled:
            return partial(entry_point(step, *given, *_EXAMPLES[step]), *given)
        return quiet(interpreted(step), *given)


_STEPS: Any = (record_kernel.step, record_kernel.receive, record_kernel.emit_waiting)
_FLOWS: Any = (datagram_kernel.handle_frames, datagram_kernel.send_emissions)
# Examples of the further arguments of a step, for their types.
_EXAMPLES: dict[Any, tuple[Any, ...]] = {
    record_kernel.step: (0, 0), record_kernel.receive: (0, 0, 0), record_kernel.emit_waiting: (0,),
    datagram_kernel.handle_frames: (0, 0, 0), datagram_kernel.send_emissions: (),
}  # fmt: skip
