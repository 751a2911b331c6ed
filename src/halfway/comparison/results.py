"""What a comparison found, as plain data: the table, the page and a notebook read the same."""

from typing import Literal

import msgspec

from halfway.pipeline.plan.plan import ROOT_SEED
from halfway.pipeline.plan.run import Scalar


class Metric(msgspec.Struct, frozen=True):
    """One column: a number that each run has, or has not."""

    name: str  # "delivery-ratio"
    label: str  # "delivered", for a head of a few letters
    unit: str  # "s", "J", "bytes"; "" for a bare number
    what: str  # how it is counted, in a sentence
    better: Literal["less", "more", ""] = "less"  # "": neither, it only tells


class Interval(msgspec.Struct, frozen=True):
    """A value and its 95 % interval; low and high are nan with fewer than two networks."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width."""
        return (self.high - self.low) / 2


class Cell(msgspec.Struct, frozen=True):
    """One metric of one system at one point, over networks."""

    point: int  # place in Compared.points
    system: str
    metric: str
    mean: Interval  # over the networks on which it has a value
    networks: int  # of these
    against: Interval | None  # system less baseline on the same networks; None for the baseline
    best: bool  # its paired difference to every other system excludes 0, in the better direction
    values: tuple[float, ...]  # one a network, in the order of replicates; nan where it has none


class Curve(msgspec.Struct, frozen=True):
    """How latencies are spread, for a plot: quantiles, averaged over networks."""

    point: int
    system: str
    seconds: tuple[float, ...]  # [101] quantiles 0, 0.01, …, 1 of a run's latencies


class Compared(msgspec.Struct, frozen=True):
    """A whole comparison. `cells` has each point x system that ran x metric once."""

    title: str
    scenario: dict[str, object]  # as it was read, defaults filled in, less seed and system
    systems: tuple[str, ...]  # that ran, in the order in which they are shown
    baseline: str
    points: tuple[dict[str, Scalar], ...]  # what a sweep varies; ({},) where it varies nothing
    replicates: int
    metrics: tuple[Metric, ...]
    cells: tuple[Cell, ...]
    curves: tuple[Curve, ...]
    unsupported: dict[str, str]  # system -> why it cannot honestly run there
    notes: tuple[str, ...]  # models, readings and shortcomings that belong under the table
    errors: int  # runs that failed; they are kept, and in no cell
    digest: str  # canonical, of the runs
    wall_seconds: float
    seed: int = ROOT_SEED  # that networks, roles, faults and losses of all replicates follow from

    def cell(self, point: int, system: str, metric: str) -> Cell:
        """One of the cells; KeyError if there is none."""
        for cell in self.cells:
            if (cell.point, cell.system, cell.metric) == (point, system, metric):
                return cell
        raise KeyError((point, system, metric))
