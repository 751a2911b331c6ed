"""The schedule of a sweep: batches and tasks, sized by the measured costs of earlier batches."""

from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from halfway.pipeline.plan.tasks import guided, numbered_kinds, tasks

_FIRST_BATCH = 0.25  # share of a normal batch, because the actual costs are not known yet


class Batches:
    """The schedule of a sweep: the batches of its pending runs, in the order of `tasks.by_network`.

    cores: tasks that run at once; batch_seconds: wall time of a batch; partitions: number of equal
    tasks per batch, instead of tasks of about a second.
    """

    def __init__(
        self, pending: pa.Table, cores: int, batch_seconds: float, partitions: int | None
    ) -> None:
        self.pending, self.cores, self.partitions = pending, cores, partitions
        # Once, as a plan may have a million runs and hundreds of batches.
        self._kinds = numbered_kinds(pending)[1]  # [rows] of the pending
        self._last = self._kinds[:0]  # [rows] of the last batch
        self.budget = batch_seconds * cores
        self.seconds: Counter[str] = Counter()  # phase -> seconds over all runs so far

    @property
    def left(self) -> int:
        """The number of plan rows that the schedule has not yet put in a batch."""
        return int(self.pending.num_rows)

    def next(self) -> tuple[pa.Table, npt.NDArray[np.int32]]:
        """Return the plan rows of the next scheduled batch and their task numbers."""
        cost = self.pending["cost_ms"].to_numpy() / 1000.0
        budget = self.budget * (1.0 if self.seconds else _FIRST_BATCH)
        size = max(1, int(np.searchsorted(np.cumsum(cost), budget + 1e-6, "right")))
        if cost[size:].sum() < budget / 2 and self.seconds:
            size = len(cost)  # a small last batch is not worth its own job
        batch, self.pending = self.pending.slice(0, size), self.pending.slice(size)
        self._last, self._kinds = self._kinds[:size], self._kinds[size:]
        equal = [1.0] * (self.partitions or 0)
        return batch, tasks(batch, equal or guided(float(cost[:size].sum()), self.cores))

    def learn(self, batch: pa.Table, target: Path) -> None:
        """Add the last batch's phases to the schedule; correct the costs of each kind of run."""
        columns = ["key", "seconds"]
        files = [pq.read_table(file, columns=columns) for file in target.glob("*.parquet")]
        rows = pa.concat_tables(files).to_pylist()
        for row in rows:
            self.seconds.update(dict(row["seconds"]))
        took = {row["key"]: dict(row["seconds"])["total"] * 1000.0 for row in rows}
        total = np.array([took.get(key, 0.0) for key in batch["key"].to_pylist()])
        kind, cost = self._last, batch["cost_ms"].to_numpy()
        most = int(max(kind.max(initial=-1), self._kinds.max(initial=-1))) + 1
        ratios = np.full(most, _ratio(total, cost))
        for number in np.unique(kind):
            ratios[number] = _ratio(total[kind == number], cost[kind == number])
        factor = ratios[self._kinds]
        self.pending = with_costs(self.pending, self.pending["cost_ms"].to_numpy() * factor)


def with_costs(pending: pa.Table, cost_ms: npt.ArrayLike) -> pa.Table:
    """Return the schedule's plan rows with other costs."""
    at = pending.column_names.index("cost_ms")
    return pending.set_column(at, "cost_ms", pa.array(np.asarray(cost_ms, np.float64)))


def _ratio(took: npt.NDArray[np.float64], cost: npt.NDArray[np.float64]) -> float:
    return max(1e-3, float(took.sum()) / max(float(cost.sum()), 1e-6))
