"""The condenser of a replayed run's trace: it reads the records while the run goes on."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.replay.map_kinds import MapKinds, Mask
from halfway.comparison.replay.trace_rows import (
    COLUMNS,
    CondensedTrace,
    TraceRows,
    first_receptions,
    joined,
    no_rows,
)
from halfway.comparison.replay.world import MOST_EVENTS, Columns
from halfway.core.kinds import MapRole
from halfway.core.message import RECORD
from halfway.sim.engine.changes import Changes
from halfway.sim.metrics.outcome import RunId
from halfway.sim.workload.event_numbers import EventNumbers
from halfway.world.outages import LINK_UP

MOST_READ = 30_000_000  # rows of a trace; later ones are left out
MOST_SENT = 120_000  # transmissions: beyond it every second one is kept, or every fourth …
_ONE_TRANSMISSION_S = 0.05  # receptions of equal records within it are of one transmission
_SAME = ("source", "kind", "publisher", "event", "topic", "target", "next", "hops")
_MIX = np.uint64(0x9E3779B97F4A7C15)
Longs = npt.NDArray[np.int64]
RecordArray = npt.NDArray[np.void]  # of RECORD


class TraceCondenser:
    """A trace that keeps only the rows for a map, from at most MOST_READ rows of the run.

    `begin` comes before the run, and `condensed` after it.
    """

    def begin(self, kinds: MapKinds, numbers: EventNumbers) -> None:
        """Begin the condenser's trace. numbers: of all events of the run, whose ids are its
        rows.
        """
        self._kinds, self._numbers = kinds, numbers
        self._announcing = kinds.with_role(MapRole.OWN_BROKER, MapRole.HOME_CELL)
        self._needed = kinds.every_reception()
        tables = ("sent", "announced", "hops", "receptions", "delivered")
        self._kept: dict[str, list[TraceRows]] = {name: [] for name in tables}
        self._faults: list[Columns] = []
        self._changes: Changes | None = None
        self._taken = 0  # changes that were read
        self._transmissions = _Transmissions()
        self._every, self._read, self._all_sent = 1, 0, 0
        self._at = 0.0  # seconds: the last row
        self._until: float | None = None  # where reading stopped

    def write(
        self,
        received: RecordArray,
        receivers: Longs,
        reported: RecordArray,
        owners: Longs,
        changes: Changes,
    ) -> None:
        """Condense the trace of a run that goes on: the records received and reported since the
        last call, and the changes.
        """
        faults = self._new_changes(changes)
        times = [received["at"], reported["at"], faults["t"]]
        count = sum(map(len, times))
        if count == 0 or self._read >= MOST_READ:
            self._until = self._at if count else self._until
            return
        self._read += count
        self._at = max(float(t.max(initial=0.0)) for t in times)
        self._faults.append({name: c[faults["what"] <= LINK_UP] for name, c in faults.items()})
        self._kept["delivered"].append(self._rows(*_in_order(reported, owners)))
        self._receive(*_in_order(received, receivers))

    def close(self, run: RunId, state: Any) -> None:
        """Close the condenser at the end of the run: nothing is left to do."""

    def abandon(self) -> None:
        """Give up the condenser of an interrupted run: there is no file to remove."""

    def condensed(self) -> CondensedTrace:
        """Return what the condenser kept of the run so far: the condensed trace."""
        whole = {name: joined(parts) for name, parts in self._kept.items()}
        faults = {
            name: np.concatenate([np.zeros(0, dtype), *(part[name] for part in self._faults)])
            for name, dtype in (("t", np.float64), *((c, np.int32) for c in ("what", "a", "b")))
        }
        whole["hops"] = first_receptions(whole["hops"])
        return CondensedTrace(**whole, all_sent=self._all_sent, changes=faults, until=self._until)

    def _new_changes(self, changes: Changes) -> Columns:
        """Return the changes that the run applied since the last call, for its trace."""
        if changes is not self._changes:
            self._changes, self._taken = changes, 0
        new = slice(self._taken, int(changes.tally[0]))
        self._taken = new.stop
        what = changes.kind[new].astype(np.int32)
        return {"t": changes.t[new], "what": what, "a": changes.a[new], "b": changes.b[new]}

    def _receive(self, records: RecordArray, receivers: Longs) -> None:
        """Condense received records of the trace, which are in order of time."""
        copies = _copies_of(records, receivers)
        records = records[copies.first]
        rows = self._rows(records, receivers[copies.first])
        begins = self._transmissions.begun(records)
        first, kind, number = rows.part(begins), rows.of["kind"], rows.of["number"]
        self._kept["announced"].append(first.part(np.isin(first.of["kind"], self._announcing)))
        hop = self._kinds.carry(kind, number, rows.t) & (number >= 0) & (number < MOST_EVENTS)
        self._kept["hops"].append(first_receptions(copies.all_of(rows, hop, receivers)))
        needed = np.isin(kind, self._needed)
        self._kept["receptions"].append(copies.all_of(rows, needed, receivers))
        sent = self._kept["sent"]
        sent.append(first.part(slice(-self._all_sent % self._every, None, self._every)))
        self._all_sent += len(begins)
        while sum(len(part.t) for part in sent) > MOST_SENT:
            sent[:] = [joined(sent).part(slice(None, None, 2))]
            self._every *= 2

    def _rows(self, records: RecordArray, rows: Longs) -> TraceRows:
        """Return records, and the rows of their nodes, as rows of the trace."""
        of = {name: records[name].astype(np.int32) for name in COLUMNS[:-2]}
        publisher = records["publisher"]
        known = self._numbers.events(publisher, records["event"])
        of["row"] = rows.astype(np.int32)
        of["number"] = np.where(publisher >= 0, known, -1).astype(np.int32)
        return TraceRows(records["at"].copy(), of, records["args"].copy())


class _Copies(NamedTuple):
    """The copies of records that a condenser finds: receptions at one time, one after another, of
    one record.

    Most are of one broadcast, so that the work on the record is done once for all its receivers.
    """

    first: Longs  # place of the first reception of each record
    every: Longs  # places of all receptions
    record: Longs  # of each of these, the place of its record in `first`

    def all_of(self, rows: TraceRows, chosen: Mask, receivers: Longs) -> TraceRows:
        """Return the condenser's receptions of the chosen records. rows: of the records."""
        if not chosen.any():
            return no_rows()
        those = chosen[self.record]
        found = rows.part(self.record[those])
        found.of["row"] = receivers[self.every[those]].astype(np.int32)
        return found


def _copies_of(records: RecordArray, receivers: Longs) -> _Copies:
    """Return which received records of a trace have the same bytes as the one before them.

    Records from a node to itself, such as its timers, are left out.
    """
    own = records["source"] == receivers
    words = records.view(np.uint64).reshape(-1, RECORD.itemsize // 8)
    new = np.ones(len(records), bool)
    new[1:] = (words[1:] != words[:-1]).any(axis=1) | own[:-1]
    new |= records["next"] >= 0  # a record to one neighbour is a transmission of its own
    every = np.flatnonzero(~own)
    new = new[every]
    return _Copies(every[new], every, np.cumsum(new) - 1)


class _Transmissions:
    """The transmissions that a condenser finds: equal records that arrive within a short time."""

    def __init__(self) -> None:
        # Of the latest broadcasts, which may have more receptions.
        self._words, self._t = np.zeros(0, np.uint64), np.zeros(0)

    def begun(self, received: RecordArray) -> Longs:
        """Return, for the condenser, the places of the received records that are the first of their
        transmissions.
        """
        single = received["next"] >= 0
        others = np.flatnonzero(~single)
        broadcasts = received[others]
        before = len(self._t)
        words = np.concatenate((self._words, _words(broadcasts)))
        t = np.concatenate((self._t, broadcasts["at"]))
        order = np.argsort(words, kind="stable")  # equal words stay in order of time
        ordered, at = words[order], t[order]
        new = np.ones(len(order), bool)
        new[1:] = (ordered[1:] != ordered[:-1]) | (at[1:] - at[:-1] > _ONE_TRANSMISSION_S)
        begun = order[new] - before
        single[others[begun[begun >= 0]]] = True
        late = t >= t.max(initial=0.0) - 2.0 * _ONE_TRANSMISSION_S
        self._words, self._t = words[late], t[late]
        return np.flatnonzero(single)


def _words(records: RecordArray) -> npt.NDArray[np.uint64]:
    """Return a digest of each record of a trace: receptions of one transmission have equal ones."""
    word = np.zeros(len(records), np.uint64)
    for column in (*(records[name] for name in _SAME), *records["args"].T):
        word = (word ^ column.astype(np.uint64)) * _MIX
        word ^= word >> np.uint64(29)
    return word


def _in_order(records: RecordArray, rows: Longs) -> tuple[RecordArray, Longs]:
    """Return records of a trace and their rows in order of time."""
    if np.all(records["at"][1:] >= records["at"][:-1]):
        return records, rows
    order = np.argsort(records["at"], kind="stable")
    return records[order], rows[order]
