"""The results of a comparison as plain data, and as flat rows for CSV, JSON lines and frames."""

import math
from collections.abc import Iterator
from typing import Literal

import msgspec

from halfway.pipeline.plan.plan import ROOT_SEED
from halfway.pipeline.plan.run import Scalar

STUDY = ("study", "title")
COLUMNS = ("system", "metric", "unit", "mean", "low", "high", "networks", "difference",
           "difference_low", "difference_high", "best")  # fmt: skip


class Metric(msgspec.Struct, frozen=True):
    """A metric in a comparison's results: at most one number for each run."""

    name: str  # "delivery-ratio", in files and options
    label: str  # "delivery ratio", in tables and plots
    unit: str  # "s", "J", "bytes"; "" for a bare number
    definition: str
    better: Literal["less", "more", ""] = "less"  # "": neither

    @property
    def heading(self) -> str:
        """The metric's label in results, with its unit: "energy [J]"."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


class MeanInterval(msgspec.Struct, frozen=True):
    """A result's mean and 95 % interval; low and high are nan with fewer than two networks."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the width of a result's interval."""
        return (self.high - self.low) / 2


_NO_INTERVAL = MeanInterval(math.nan, math.nan, math.nan)


class ResultCell(msgspec.Struct, frozen=True):
    """A cell of a comparison's results: one metric of one system at one point, over networks."""

    point: int  # index in Results.points
    system: str
    metric: str
    mean: MeanInterval  # over the networks on which it has a value
    networks: int  # number of networks on which it has a value
    difference: MeanInterval | None  # system - baseline on the same networks; None for the baseline
    best: bool  # its paired difference to every other system excludes 0, in the better direction
    values: tuple[float, ...]  # one a network, in the order of replicates; nan where it has none


class Curve(msgspec.Struct, frozen=True):
    """A latency curve in the results of a system at a point: quantiles averaged over networks."""

    point: int
    system: str
    seconds: tuple[float, ...]  # [101] quantiles 0, 0.01, …, 1


class Results(msgspec.Struct, frozen=True):
    """The results of a comparison. `cells` has each point x system that ran x metric once."""

    title: str
    scenario: dict[str, object]  # as it was read, with defaults, without seed and system
    systems: tuple[str, ...]  # those that ran, in the order of the tables
    baseline: str
    points: tuple[dict[str, Scalar], ...]  # what a sweep varies; ({},) without a sweep
    replicates: int
    metrics: tuple[Metric, ...]
    cells: tuple[ResultCell, ...]
    curves: tuple[Curve, ...]
    unsupported: dict[str, str]  # system -> why it cannot run there
    notes: tuple[str, ...]  # what changes the reading of the tables, at most two lines each
    methods: tuple[str, ...]  # how the numbers were made
    errors: int  # failed runs; they are kept in the store, and are in no cell
    digest: str  # canonical, of the runs
    wall_seconds: float
    seed: int = ROOT_SEED  # the seeds of all replicates derive from it
    study: str = ""  # the name of the study in its folder

    def cell(self, point: int, system: str, metric: str) -> ResultCell:
        """The results' cell of a metric of a system at a point; KeyError if there is none."""
        for cell in self.cells:
            if (cell.point, cell.system, cell.metric) == (point, system, metric):
                return cell
        raise KeyError((point, system, metric))

    def lasting(self, wall_seconds: float) -> "Results":
        """These results, with the wall time of the whole command."""
        return msgspec.structs.replace(self, wall_seconds=wall_seconds)

    def rows(self) -> Iterator[dict[str, object]]:
        """The results as rows, one a cell: `STUDY`, swept fields, `COLUMNS`; nan if missing."""
        units = {metric.name: metric.unit for metric in self.metrics}
        for cell in self.cells:
            difference = cell.difference or _NO_INTERVAL
            values = (
                cell.system, cell.metric, units[cell.metric], cell.mean.value, cell.mean.low,
                cell.mean.high, cell.networks, difference.value, difference.low, difference.high,
                cell.best,
            )  # fmt: skip
            named = dict(zip(STUDY, (self.study, self.title), strict=True))
            yield {**named, **self.points[cell.point], **dict(zip(COLUMNS, values, strict=True))}
