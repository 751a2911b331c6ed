"""The trace of a replayed run, read batch by batch into columns for a map."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.replay.map_kinds import MapKinds, Mask
from halfway.comparison.replay.world import Columns
from halfway.core.kinds import MapRole
from halfway.core.records.trace_columns import WHAT
from halfway.sim.workload.event_numbers import EventNumbers

MOST_READ = 30_000_000  # rows of a trace; later ones are left out
MOST_SENT = 120_000  # transmissions: beyond it every second one is kept, or every fourth …
_BATCH = 1_000_000  # rows at a time
_ONE_TRANSMISSION_S = 0.05  # receptions of equal records within it are of one transmission
_RECEIVED, _DELIVERED = WHAT[:2]  # by a node; to its application
_FAULTS = ("node down", "node up", "link down", "link up")
_INTS = ("kind", "hops", "source", "target", "next", "topic", "event", "publisher", "row")
_SAME = ("source", "kind", "publisher", "event", "topic", "target", "next", "hops")
_MIX = np.uint64(0x9E3779B97F4A7C15)
Ints = npt.NDArray[np.int32]


class TraceRows(NamedTuple):
    """Rows of a run's trace in order of time."""

    t: npt.NDArray[np.float64]
    what: npt.NDArray[np.int8]  # an index in `words`
    of: dict[str, Ints]  # the columns of _INTS, and `number`: the run's own of an event, or -1
    args: Ints  # [rows, 8]
    words: tuple[str, ...]

    def part(self, which: npt.NDArray[Any] | slice) -> "TraceRows":
        """Return the selected rows of the trace, by mask, indices or slice."""
        of = {name: column[which] for name, column in self.of.items()}
        return TraceRows(self.t[which], self.what[which], of, self.args[which], self.words)

    def are(self, word: str) -> Mask:
        """Return which of the trace's rows have that word in column `what`."""
        if word not in self.words:
            return np.zeros(len(self.t), bool)
        return np.asarray(self.what == self.words.index(word))

    def table(self, **columns: Ints) -> Columns:
        """Return the columns of the trace's rows, with their time."""
        return {"t": self.t, **{name: column.astype(np.int32) for name, column in columns.items()}}


class CondensedTrace(NamedTuple):
    """The condensed trace: the rows of a run's trace that a map needs."""

    sent: TraceRows  # the first reception of each transmission, thinned to MOST_SENT
    all_sent: int  # transmissions before thinning
    announced: TraceRows  # first receptions of kinds that announce brokers or home cells
    hops: TraceRows  # each node's first reception of each event
    receptions: TraceRows  # of kinds that are steps, meetings, links
    delivered: TraceRows  # records to applications
    changes: TraceRows  # faults
    until: float | None  # seconds: where reading stopped; None: at the end


def condensed_trace(path: Path, kinds: MapKinds, numbers: EventNumbers) -> CondensedTrace:
    """Read and condense the trace of a run, at most MOST_READ rows of it.

    numbers: of all events of the run, whose node ids are its rows.
    """
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    kept: dict[str, list[TraceRows]] = {name: [] for name in CondensedTrace._fields}
    announcing = kinds.with_role(MapRole.OWN_BROKER, MapRole.HOME_CELL)
    every, read, all_sent, until = 1, 0, 0, None
    for rows, more in _batches(file, numbers):
        read += len(rows.t)
        received = rows.part(rows.are(_RECEIVED) & (rows.of["source"] != rows.of["row"]))
        first = received.part(_one_per_transmission(received))
        carried = kinds.carry(received.of["kind"], received.of["number"], received.t)
        kept["sent"].append(first.part(slice(-all_sent % every, None, every)))
        all_sent += len(first.t)
        while sum(len(part.t) for part in kept["sent"]) > MOST_SENT:
            whole = _joined(kept["sent"])
            kept["sent"], every = [whole.part(slice(None, None, 2))], 2 * every
        kept["announced"].append(first.part(np.isin(first.of["kind"], announcing)))
        kept["hops"].append(_first_receptions(received.part(carried)))
        needed = np.isin(received.of["kind"], kinds.every_reception())
        kept["receptions"].append(received.part(needed))
        kept["delivered"].append(rows.part(rows.are(_DELIVERED)))
        kept["changes"].append(rows.part(np.logical_or.reduce([rows.are(w) for w in _FAULTS])))
        if read >= MOST_READ and more:
            until = float(rows.t[-1])
            break
    whole_of = {name: _joined(parts) for name, parts in kept.items()}
    return CondensedTrace(
        whole_of["sent"], all_sent, whole_of["announced"], _first_receptions(whole_of["hops"]),
        whole_of["receptions"], whole_of["delivered"], whole_of["changes"], until,
    )  # fmt: skip


def _batches(file: Any, numbers: EventNumbers) -> Iterator[tuple[TraceRows, bool]]:
    """Yield trace rows, about _BATCH at a time, and whether more follow.

    No transmission is in two batches.
    """
    waiting: list[TraceRows] = []
    for batch in file.iter_batches(columns=["at", "what", *_INTS, "args"]):
        args = batch["args"].flatten().to_numpy().reshape(-1, 8)
        what = batch["what"].indices.to_numpy().astype(np.int8)
        of = {name: batch[name].to_numpy().astype(np.int32) for name in _INTS}
        known = numbers.events(of["publisher"], of["event"])
        of["number"] = np.where(of["publisher"] >= 0, known, -1).astype(np.int32)
        words = tuple(batch["what"].dictionary.to_pylist())
        waiting.append(TraceRows(batch["at"].to_numpy(), what, of, args, words))
        if sum(len(part.t) for part in waiting) >= _BATCH:
            rows = _joined(waiting)
            cut = int(np.searchsorted(rows.t, rows.t[-1] - _ONE_TRANSMISSION_S))
            if cut > 0:
                yield rows.part(slice(0, cut)), True
            waiting = [rows.part(slice(cut, None))]
    yield _joined(waiting), False


def _joined(parts: list[TraceRows]) -> TraceRows:
    if not parts:
        of = {name: np.zeros(0, np.int32) for name in (*_INTS, "number")}
        return TraceRows(np.zeros(0), np.zeros(0, np.int8), of, np.zeros((0, 8), np.int32), ())
    of = {name: np.concatenate([part.of[name] for part in parts]) for name in parts[0].of}
    t, what = np.concatenate([p.t for p in parts]), np.concatenate([p.what for p in parts])
    return TraceRows(t, what, of, np.concatenate([p.args for p in parts]), parts[0].words)


def _one_per_transmission(received: TraceRows) -> npt.NDArray[np.int64]:
    """Return indices in a trace of the first reception of each transmission, in order of time."""
    word = np.zeros(len(received.t), np.uint64)
    for column in (*(received.of[name] for name in _SAME), *received.args.T):
        word = (word ^ column.astype(np.uint64)) * _MIX
        word ^= word >> np.uint64(29)
    order = np.argsort(word, kind="stable")  # equal words stay in order of time
    word, t, next_ = word[order], received.t[order], received.of["next"][order]
    new = np.ones(len(order), bool)
    new[1:] = (word[1:] != word[:-1]) | (next_[1:] >= 0) | (t[1:] - t[:-1] > _ONE_TRANSMISSION_S)
    return np.sort(order[new])


def _first_receptions(hops: TraceRows) -> TraceRows:
    """Return the trace's first reception of each event by each node."""
    hops = hops.part(hops.of["number"] >= 0)
    pair = hops.of["number"].astype(np.int64) << 32 | hops.of["row"].astype(np.int64)
    return hops.part(np.sort(np.unique(pair, return_index=True)[1]))
