"""Cuts a sweep into waves and tasks, and learns from each wave what runs really cost."""

from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from halfway.pipeline.plan.plan import guided, kinds, tasks

_FIRST_WAVE = 0.25  # of a wave: nobody knows yet what the runs really cost


class Waves:
    """What of a plan is still to be run, in the order of `by_network`.

    cores: tasks that run at once; wave_seconds: wall time of a wave; partitions: equal tasks a
    wave, instead of tasks of about a second.
    """

    def __init__(
        self, pending: pa.Table, cores: int, wave_seconds: float, partitions: int | None
    ) -> None:
        self.pending, self.cores, self.partitions = pending, cores, partitions
        self.budget = wave_seconds * cores
        self.seconds: Counter[str] = Counter()  # phase -> seconds over all runs so far

    @property
    def left(self) -> int:
        """Rows not yet in a wave."""
        return int(self.pending.num_rows)

    def next(self) -> tuple[pa.Table, npt.NDArray[np.int32]]:
        """The rows of the next wave and their task numbers."""
        cost = self.pending["cost_ms"].to_numpy() / 1000.0
        budget = self.budget * (1.0 if self.seconds else _FIRST_WAVE)
        size = max(1, int(np.searchsorted(np.cumsum(cost), budget + 1e-6, "right")))
        if cost[size:].sum() < budget / 2 and self.seconds:
            size = len(cost)  # a last wave that is hardly one is not worth its own job
        wave, self.pending = self.pending.slice(0, size), self.pending.slice(size)
        equal = [1.0] * (self.partitions or 0)
        return wave, tasks(wave, equal or guided(float(cost[:size].sum()), self.cores))

    def learn(self, wave: pa.Table, target: Path) -> None:
        """Take in what a finished wave's phases took, and what each kind of run really cost."""
        columns = ["key", "seconds"]
        files = [pq.read_table(file, columns=columns) for file in target.glob("*.parquet")]
        rows = pa.concat_tables(files).to_pylist()
        for row in rows:
            self.seconds.update(dict(row["seconds"]))
        took = {row["key"]: dict(row["seconds"])["total"] * 1000.0 for row in rows}
        total = np.array([took.get(key, 0.0) for key in wave["key"].to_pylist()])
        kind, cost = np.array(kinds(wave)), wave["cost_ms"].to_numpy()
        whole = _ratio(total, cost)
        ratios = {one: _ratio(total[kind == one], cost[kind == one]) for one in set(kind.tolist())}
        factor = np.array([ratios.get(one, whole) for one in kinds(self.pending)], np.float64)
        corrected = pa.array(self.pending["cost_ms"].to_numpy() * factor)
        at = self.pending.column_names.index("cost_ms")
        self.pending = self.pending.set_column(at, "cost_ms", corrected)


def _ratio(took: npt.NDArray[np.float64], cost: npt.NDArray[np.float64]) -> float:
    return max(1e-3, float(took.sum()) / max(float(cost.sum()), 1e-6))
