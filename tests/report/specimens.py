"""A made-up study with invented numbers and every opinion."""

from collections.abc import Iterable
from typing import Any

import msgspec

from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Drawing, Figure, Paper, Plot, Scale, Summaries
from halfway.pipeline.reproduction.verdict import Opinion, Verdict
from halfway.pipeline.statistics.summary import Summary
from halfway.report.verdicts.verdict_report import VerdictReport

ODD_ROW, TREND_ROW = 7, 20
SIZES = (1500, 2000, 2500, 3000)
SYSTEMS = ("directional-walk", "random-walk")
MEDIANS = {
    "directional-walk": ((192, 267, 431), (144, 192, 314), (116, 160, 279), (102, 143, 227)),
    "random-walk": (
        (1267, 1700, 2668),
        (956, 1319, 2018),
        (830, 1099, 1762),
        (756, 1077, 1647),
    ),
}
HEARD = "meets when heard: a neighbour of the node just reached carries the other's trace"
STEPPED = "meets when stepped on"


def summary(metric: str, middle: float, spread: float = 1.0, **parameters: Scalar) -> Summary:
    return Summary(
        parameters={**parameters, "reading": "heard"},
        metric=metric,
        networks=100,
        units=10_000,
        mean=middle * 1.3,
        mean_low=middle * 1.22,
        mean_high=middle * 1.38,
        median=middle,
        median_low=middle * 0.95,
        median_high=middle * 1.05,
        lower_quartile=middle * (1 - 0.5 * spread),
        upper_quartile=middle * (1 + 0.75 * spread),
        lower_whisker=max(2.0, middle * (1 - 0.98 * spread)),
        upper_whisker=middle * (1 + 2.6 * spread),
        minimum=2.0,
        maximum=middle * 14.0,
        boot_mean=(middle, middle * 1.01),
        boot_median=(middle, middle * 0.99),
    )


def asynchrony_cells() -> Iterable[tuple[str, int, int, float]]:
    for system in SYSTEMS:
        for size, row in zip(SIZES, MEDIANS[system], strict=True):
            for k, median in zip((1, 10, 100), row, strict=True):
                yield system, size, k, float(median)


def asynchrony_summaries() -> list[Summary]:
    return [
        summary("steps", median * 1.02, system=system, n=size, k=k)
        for system, size, k, median in asynchrony_cells()
    ]


def growth_summaries() -> list[Summary]:
    sizes = (1500, 2000, 2500, 3000, 3500, 4000)
    return [
        summary("steps", (190 if system == SYSTEMS[0] else 1250) * (1500 / n) ** 0.8,
                system=system, n=n, k=1)
        for system in SYSTEMS
        for n in sizes
    ]  # fmt: skip


def load_summaries() -> list[Summary]:
    level = {"directional-walk": 55.0, "random-walk": 79.0, "shortest-path": 20.0, "tree": 66.0}
    return [
        summary("load", middle, spread=0.3, system=system, n=n)
        for system, middle in level.items()
        for n in (*SIZES, 3500)
    ]


def verdict(**changes: Any) -> Verdict:
    """Return a verdict that agrees, with some fields changed."""
    agrees = Verdict("p", "f", {}, "m", 1.0, 2.0, 1.0, 3.0, 9, "", "agrees", "")
    return msgspec.structs.replace(agrees, **changes)


def asynchrony_verdicts(_: Summaries | None = None) -> list[Verdict]:
    rows = []
    for index, (system, size, k, median) in enumerate(asynchrony_cells()):
        for name, published, shift in (
            ("median steps", median, 1.0 + 0.012 * (index % 5)),
            ("mean steps", round(median * 1.3), 1.31 if index == ODD_ROW else 0.98),
        ):
            opinion: Opinion = "agrees"
            reason = f"within 10 % of {published:g}"
            if index == ODD_ROW and name == "mean steps":
                opinion, reason = "differs", "31 % above the printed mean, outside the interval"
            elif index == TREND_ROW and name == "median steps":
                opinion, reason = "same trend", "falls with n as printed, 12 % higher throughout"
            measured = published * shift
            rows.append(
                Verdict(
                    paper="directional-walks",
                    figure="figure-6",
                    cell={"system": system, "n": size, "k": k},
                    metric=name,
                    published=published,
                    measured=measured,
                    low=measured * 0.95,
                    high=measured * 1.06,
                    replicates=100,
                    interpretation=HEARD,
                    verdict=opinion,
                    reason=reason,
                )
            )
    return rows


def load_verdicts(_: Summaries | None = None) -> list[Verdict]:
    printed = {
        "directional-walk": (62, 63, 64, 63, 63),
        "random-walk": (65, 73, 79, 84, 89),
        "shortest-path": (73, 66, 65, 65, 60),
    }
    rows = []
    for system, means in printed.items():
        for size, mean in zip((*SIZES, 3500), means, strict=True):
            impossible = system == "shortest-path"
            measured = 21.4 if impossible else mean * 1.013
            rows.append(
                Verdict(
                    paper="directional-walks",
                    figure="figure-7",
                    cell={"system": system, "n": size},
                    metric="mean load",
                    published=float(mean),
                    measured=measured,
                    low=measured * 0.99,
                    high=measured * 1.01,
                    replicates=10,
                    interpretation=STEPPED if impossible else HEARD,
                    verdict="impossible as printed" if impossible else "agrees",
                    reason="the mean load of shortest paths is the mean distance, about 21 hops"
                    if impossible
                    else "within 3 %",
                )
            )
    claim = Verdict(
        paper="directional-walks",
        figure="figure-7",
        cell={},
        metric="<b>few</b> nodes & half of the traffic",
        published="close to half",
        measured=None,
        low=None,
        high=None,
        replicates=10,
        interpretation=HEARD,
        verdict="not comparable",
        reason="the text gives no number",
    )
    return [*rows, claim]


def _points(_: Scale) -> list[Point]:
    return [Point(measurement="tests:none", parameters={"n": 1}, network=("n",))]


def _no_verdicts(_: Summaries) -> list[Verdict]:
    return []


def small_svg() -> str:
    return (
        '<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9">'
        '<defs><clipPath id="c"><rect width="9" height="9"/></clipPath></defs>'
        '<circle cx="4" cy="4" r="3" clip-path="url(#c)"/></svg>'
    )


def paper(drawing: Drawing | None = None) -> Paper:
    """Three figures in the shapes that papers print: a grid of cells, loads, boxplots."""
    published = tuple((n, system, k, median) for system, n, k, median in asynchrony_cells())
    replicates: dict[Scale, int] = {"quick": 10, "paper": 100}
    return Paper(
        name="directional-walks",
        title="Failure Detection with Directional Walks & Traces",
        authors="A. Author, B. Writer",
        year=2013,
        figures=(
            Figure(
                name="figure-4",
                title="How a path is built",
                points=lambda _: [],
                replicates=replicates,
                judge=_no_verdicts,
                interpretations=("one drawn pair",),
                drawing=drawing or Drawing(small_svg, "Two walks and the path between them"),
            ),
            Figure(
                name="figure-5",
                title="Time to intersection",
                points=_points,
                replicates=replicates,
                judge=_no_verdicts,
                interpretations=("no values are printed: compare the picture",),
                plots=(
                    Plot("boxplot", "steps", "n", "system", "nodes", "steps to meet"),
                ),
            ),
            Figure(
                name="figure-6",
                title="The impact of asynchrony",
                points=_points,
                replicates=replicates,
                judge=asynchrony_verdicts,
                interpretations=("the first walk makes 1 step, then the other k",),
                plots=(
                    Plot(
                        "boxplot", "steps", "n", "system", "nodes", "steps to meet",
                        colour="k", log=True, published=published,
                    ),
                ),
            ),
            Figure(
                name="figure-7",
                title="Load when a permutation is routed",
                points=_points,
                replicates=replicates,
                judge=load_verdicts,
                interpretations=("n pairs: every node is once a source and once a target",),
                plots=(
                    Plot(
                        "bars", "load", "n", "system", "nodes", "paths through a node",
                        statistic="mean",
                        published=tuple(
                            (v.cell["n"], v.cell["system"], None, float(v.published))
                            for v in load_verdicts()
                            if isinstance(v.published, float)
                        ),
                    ),
                ),
            ),
        ),
    )  # fmt: skip


def summaries() -> dict[str, list[Summary]]:
    return {
        "figure-4": [],
        "figure-5": growth_summaries(),
        "figure-6": asynchrony_summaries(),
        "figure-7": load_summaries(),
    }


def report(drawing: Drawing | None = None) -> VerdictReport:
    whole = paper(drawing)
    found = summaries()
    return VerdictReport(
        figures=tuple((whole, figure) for figure in whole.figures),
        scale="paper",
        verdicts=(*asynchrony_verdicts(), *load_verdicts()),
        summaries={(whole.name, name): rows for name, rows in found.items()},
        digest="5f3a9c01d2e47b68",
        version="0.1.0",
        command="halfway reproduce directional-walks --scale paper",
        elapsed=52.4,
        seconds={"walking": 61.0, "networks": 12.0, "compiling": 3.1, "Spark": 5.2},
    )
