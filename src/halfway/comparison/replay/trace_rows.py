"""The trace rows of a replay: the rows of a run's trace that a map needs, as columns."""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.replay.world import Columns

COLUMNS = ("kind", "source", "target", "next", "topic", "row", "number")
Ints = npt.NDArray[np.int32]


class TraceRows(NamedTuple):
    """Trace rows of a replay, in order of time."""

    t: npt.NDArray[np.float64]
    of: dict[str, Ints]  # COLUMNS; `number`: the run's own of an event, or -1
    args: Ints  # [rows, 8]

    def part(self, which: npt.NDArray[Any] | slice) -> "TraceRows":
        """Return the selected trace rows of a replay, by mask, indices or slice."""
        of = {name: column[which] for name, column in self.of.items()}
        return TraceRows(self.t[which], of, self.args[which])

    def columns(self, **columns: Ints) -> Columns:
        """Return columns of a replay's trace rows, with the time of each row."""
        return {"t": self.t, **{name: column.astype(np.int32) for name, column in columns.items()}}


class CondensedTrace(NamedTuple):
    """All trace rows of a replay: the rows of a run's trace that a map needs."""

    sent: TraceRows  # the first reception of each transmission, thinned
    all_sent: int  # transmissions before thinning
    announced: TraceRows  # first receptions of kinds that announce brokers or home cells
    hops: TraceRows  # each node's first reception of each event on the map
    receptions: TraceRows  # of kinds that are steps, meetings, links
    delivered: TraceRows  # records to applications
    changes: Columns  # the table `changes` of a replay
    until: float | None  # seconds: where reading stopped; None: at the end


def no_rows() -> TraceRows:
    """Return empty trace rows of a replay."""
    of = {name: np.zeros(0, np.int32) for name in COLUMNS}
    return TraceRows(np.zeros(0), of, np.zeros((0, 8), np.int32))


def joined(parts: list[TraceRows]) -> TraceRows:
    """Return parts of a replay's trace rows as one."""
    parts = [no_rows(), *parts]
    of = {name: np.concatenate([part.of[name] for part in parts]) for name in COLUMNS}
    t, args = (np.concatenate([part[place] for part in parts]) for place in (0, 2))
    return TraceRows(t, of, args)


def first_receptions(hops: TraceRows) -> TraceRows:
    """Return, from trace rows of a replay, the first reception of each event by each node."""
    pair = hops.of["number"].astype(np.int64) << 32 | hops.of["row"].astype(np.int64)
    return hops.part(np.sort(np.unique(pair, return_index=True)[1]))
