"""The declaration of a paper in general: its figures as points, plots and judgements, and the
summaries that a declared figure finds. The module contains no paper.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.summary import Summary

Scale = Literal["quick", "paper"]


@dataclass(frozen=True)
class Summaries:
    """The summaries that a declared figure finds, by metric and parameters."""

    rows: Sequence[Summary]

    def find(self, metric: str, **parameters: Scalar) -> Summary:
        """Find for a declared figure the only summary of a metric that has the given parameters.

        Raises KeyError if there is none or more than one: a figure's declaration is then wrong.
        """
        summaries = self.select(metric, **parameters)
        if len(summaries) != 1:
            raise KeyError(f"{len(summaries)} summaries of {metric} at {parameters}, expected one")
        return summaries[0]

    def select(self, metric: str, **parameters: Scalar) -> list[Summary]:
        """Find for a declared figure all summaries of a metric that have the given parameters."""
        rows = (row for row in self.rows if row.metric == metric)
        return [row for row in rows if parameters.items() <= row.parameters.items()]


@dataclass(frozen=True)
class Plot:
    """A declared figure's plot: boxes, bars or curves of a metric, in panels."""

    form: Literal["boxplot", "bars", "curves"]  # curves: over numbers
    metric: str
    x: str  # parameter along the axis
    panel: str  # parameter that makes the panels
    x_title: str
    y_title: str
    colour: str | None = None  # parameter shown by colour within a panel
    where: dict[str, Scalar] = field(default_factory=dict)  # only points with these parameters
    statistic: Literal["median", "mean", "maximum"] = "median"  # not of boxes
    log: bool = False
    log_x: bool = False  # of curves
    # Published values to draw: (x value, panel value, colour value or None, published value).
    published: tuple[tuple[Scalar, Scalar, Scalar | None, float], ...] = ()


@dataclass(frozen=True)
class Drawing:
    """A declared figure's picture of one run instead of a statistic; `svg` draws it."""

    svg: Callable[[], str]
    caption: str


@dataclass(frozen=True)
class Figure:
    """The declaration of one table, figure or set of claims of a paper."""

    name: str  # "figure-6"
    title: str
    points: Callable[[Scale], list[Point]]
    replicates: dict[Scale, int]
    judge: Callable[[Summaries], Iterable[Verdict]]
    interpretations: tuple[str, ...]  # interpretations of the paper, printed under the table
    plots: tuple[Plot, ...] = ()
    drawing: Drawing | None = None


@dataclass(frozen=True)
class Paper:
    """The declaration of a paper and its reproduced figures."""

    name: str  # "directional-walks"
    title: str
    authors: str
    year: int
    figures: tuple[Figure, ...]
    # Least and largest value of each metric that has both; its intervals stay between them.
    bounds: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def figure(self, name: str) -> Figure | None:
        """Return a declared figure of the paper by name, or None."""
        return next((figure for figure in self.figures if figure.name == name), None)
