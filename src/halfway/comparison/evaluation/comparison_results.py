"""The results of a comparison as plain data, such as metrics, means, needs and decisions, and as
flat rows for CSV, JSON lines and frames.
"""

import math
from collections.abc import Iterator
from functools import cached_property
from typing import Literal, NamedTuple

import msgspec

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.plan.sweep_plan import ROOT_SEED
from halfway.pipeline.reproduction.verdict import NO_VALUE

STUDY = ("study", "title")
COLUMNS = ("system", "metric", "unit", "mean", "low", "high", "replicates", "difference",
           "difference_low", "difference_high", "comparable", "best")  # fmt: skip
_EVEN = 0.8  # least ratio of an interval's sides that are written as one, after ±
SystemVerdict = Literal["chosen", "not clearly worse", "costs more", "open", "fails"]
NeedVerdict = Literal["meets", "open", "fails"]


class Metric(msgspec.Struct, frozen=True):
    """A metric in the results of a comparison, which has at most one number for each run."""

    name: str  # "delivery-ratio", in files and options
    label: str  # "delivery ratio", in tables and plots
    unit: str  # "s", "J", "bytes"; "" for a bare number
    definition: str
    better: Literal["less", "more", ""] = "less"  # "": neither
    least: float = 0.0  # no value is below it
    most: float | None = None  # no value is above it; None: no limit

    @property
    def bounds(self) -> tuple[float, float]:
        """The least and the greatest value that the metric can have in the results of a
        comparison.
        """
        return self.least, math.inf if self.most is None else self.most

    @property
    def difference_bounds(self) -> tuple[float, float]:
        """The least and the greatest difference that the metric can have in the results of a
        comparison.
        """
        width = self.bounds[1] - self.least
        return -width, width

    @property
    def heading(self) -> str:
        """The heading of a metric in results, its label and its unit: "energy [J]"."""
        return f"{self.label} [{self.unit}]" if self.unit else self.label


class MeanInterval(msgspec.Struct, frozen=True):
    """The mean and the 95 % interval in a result of a comparison; low and high are nan with fewer
    than two replicates.
    """

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the width of the interval of a mean in the results."""
        return (self.high - self.low) / 2

    @property
    def margin(self) -> float:
        """The longer side of the interval of a mean in the results, or nan without an interval."""
        return max(self.high - self.value, self.value - self.low)

    @property
    def text(self) -> str:
        """The mean and the interval of a result as one text: `0.957 ± 0.012`, or `1.7 (0.7 to 5.6)`
        where the sides differ.

        The margin has two significant digits. Sides differ if one is shorter by more than a fifth.
        """
        value, low, high = self.texts
        if not low:
            return value
        half, places = self.margin, len(value.partition(".")[2])
        if low == high:
            return f"{value} ± 0"
        if min(self.high - self.value, self.value - self.low) >= _EVEN * half:
            return f"{value} ± {half:,.{places}f}"
        return f"{value} ({low} to {high})"

    @property
    def texts(self) -> tuple[str, str, str]:
        """The mean and both ends of the interval of a result as three texts; ends are "" if it has
        none.
        """
        half = self.margin
        if not math.isfinite(self.value):
            return NO_VALUE, "", ""
        if math.isnan(half) or half <= 1e-9 * max(abs(self.value), 1e-300):
            known = f"{self.value:,.{_decimals(self.value)}f}"
            return known, *(("", "") if math.isnan(half) else (known, known))
        places = min(max(0, 1 - math.floor(math.log10(half))), 9)
        value, low, high = (f"{end:,.{places}f}" for end in (self.value, self.low, self.high))
        return value, low, high


def _decimals(value: float) -> int:
    """Return the digits after the point that give three significant digits of a result, or 0 for
    whole numbers.
    """
    if value == int(value) or abs(value) >= 100.0:
        return 0
    return min(6, max(0, 2 - math.floor(math.log10(abs(value)))))


_NO_INTERVAL = MeanInterval(math.nan, math.nan, math.nan)


class ResultCell(msgspec.Struct, frozen=True):
    """A cell of a comparison's results: one metric of one system at one point, over replicates."""

    point: int  # index in Results.points
    system: str
    metric: str
    mean: MeanInterval  # over the replicates in which it has a value
    replicates: int  # number of replicates in which it has a value
    difference: MeanInterval | None  # system - baseline by replicate; None for the baseline
    best: bool  # True: the best system of the metric, see `best_system`
    values: tuple[float, ...]  # one value per replicate, in order; nan: no value
    comparable: bool = True  # False: delivers (or recovers) too little for a fair comparison


class Curve(msgspec.Struct, frozen=True):
    """A latency curve in the results of a system at a point: quantiles averaged over replicates."""

    point: int
    system: str
    seconds: tuple[float, ...]  # [101] quantiles 0, 0.01, …, 1


class Timeline(msgspec.Struct, frozen=True):
    """A metric over time in the results of a system at a point, in bins of equal length."""

    point: int
    system: str
    metric: str
    seconds: float  # of the runs
    mean: tuple[float, ...]  # [bins] over the networks with a value; nan where none has
    networks: tuple[int, ...]  # [bins] number of networks with a value


class Need(msgspec.Struct, frozen=True):
    """A need in the results of a decision: the least value of a metric, or the greatest value of a
    cost.

    of_best: the value may be at most `bound` below the value of any other system.
    """

    metric: str
    bound: float
    of_best: bool = False


class DecisionRule(NamedTuple):
    """The rule of a decision in the results: needs, and a metric to minimise among the systems that
    meet them.
    """

    needs: tuple[Need, ...] = ()
    minimise: str = ""

    @property
    def stated(self) -> bool:
        """Whether the rule of a decision in the results has a stated need or cost."""
        return bool(self.needs or self.minimise)

    @property
    def question(self) -> str:
        """The question of a decision in the results, its rule as text, whatever the order of the
        needs.
        """
        needs = sorted(f"{need.metric} {need.bound!r}" for need in self.needs)
        return ", ".join([*needs, f"minimise {self.minimise}"])


class NeedResult(msgspec.Struct, frozen=True):
    """The result of one system for one need, with the one-sided confidence that the system meets
    this need.
    """

    metric: str
    value: MeanInterval
    confidence: float
    verdict: NeedVerdict
    missed: int  # replicates that miss the need by themselves
    replicates: int  # those that say something about the need
    greatest_share: float  # of all possible replicates, that may miss the need (95 % confidence)


class RankedSystem(msgspec.Struct, frozen=True):
    """One system in the result of a decision, its needs, its cost, and why it has its verdict."""

    system: str
    verdict: SystemVerdict
    needs: tuple[NeedResult, ...]
    cost: MeanInterval
    extra: MeanInterval | None  # cost - the chosen system's by replicate; None: nothing is chosen
    reason: str = ""  # the reason of the verdict in words, which `report` adds
    replicates_needed: int | None = None  # an estimate, where open; None: unknown, or very many


class Decision(msgspec.Struct, frozen=True):
    """The result of a decision at one point: which system meets the needs at the least cost."""

    point: int  # index in Results.points
    needs: tuple[Need, ...]
    minimise: str  # a metric
    stated: bool  # whether a need or a cost was stated
    chosen: str | None
    sentence: str  # the decision in words, which `report` adds; "" before
    systems: tuple[RankedSystem, ...]  # the chosen one first, then by verdict and cost
    asked: tuple[int, ...] = ()  # replicates of the earlier decisions on the same question


class Results(msgspec.Struct, frozen=True, dict=True):
    """The results of a comparison, with a cell for each point, each system that ran, and each
    metric.
    """

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
    # Texts that `report` adds: what a reader of the tables needs to know, at most two lines each,
    # and how the numbers were made.
    notes: tuple[str, ...]
    methods: tuple[str, ...]
    errors: int  # failed runs; they are kept in the store, and are in no cell
    digest: str  # canonical, of the runs
    wall_seconds: float
    seed: int = ROOT_SEED  # the seeds of all replicates derive from it
    study: str = ""  # the name of the study in its folder
    decisions: tuple[Decision, ...] = ()  # one a point
    timelines: tuple[Timeline, ...] = ()

    def cell(self, point: int, system: str, metric: str) -> ResultCell:
        """Return the cell of a system's metric at a point of the comparison's results. Raises
        KeyError.
        """
        return self._by_place[point, system, metric]

    @cached_property
    def _by_place(self) -> dict[tuple[int, str, str], ResultCell]:
        """The results' cells by point, system and metric."""
        return {(cell.point, cell.system, cell.metric): cell for cell in self.cells}

    def lasting(self, wall_seconds: float) -> "Results":
        """Return these results of a comparison, with the wall time of the whole command."""
        return msgspec.structs.replace(self, wall_seconds=wall_seconds)

    def study_columns(self) -> dict[str, str]:
        """Return the columns `STUDY` of the results' flat rows: the same values in every row."""
        return dict(zip(STUDY, (self.study, self.title), strict=True))

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield the results of a comparison as flat rows, one for each cell: `STUDY`, swept fields,
        `COLUMNS`. A missing value is nan.
        """
        units = {metric.name: metric.unit for metric in self.metrics}
        study = self.study_columns()
        for cell in self.cells:
            difference = cell.difference or _NO_INTERVAL
            values = (
                cell.system, cell.metric, units[cell.metric], cell.mean.value, cell.mean.low,
                cell.mean.high, cell.replicates, difference.value, difference.low, difference.high,
                cell.comparable, cell.best,
            )  # fmt: skip
            yield {**study, **self.points[cell.point], **dict(zip(COLUMNS, values, strict=True))}
