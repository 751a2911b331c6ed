"""Figures of paper 1 (directional walks): points, scales, interpretations and plots."""

import math
from typing import Any, Literal

from halfway.papers.directional_walks import (
    claims,
    claims_detectors,
    claims_growth,
    claims_lists,
    claims_loads,
    detector_points,
    growth_points,
)
from halfway.papers.directional_walks.claims import HERE, SIZES, SIZES_BOXES, WALKS
from halfway.papers.directional_walks.points import (
    RATIOS,
    interpretation_point,
    load_point,
    meeting_point,
    step_point,
    visit_point,
)
from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Drawing, Figure, Paper, Plot, Scale
from halfway.pipeline.reproduction.published import published

UNIFORM = (
    "networks: n points uniform in the unit square (no torus), linked below r = 0.04, redrawn "
    "until connected; the same networks and pairs for all systems, ratios and interpretations"
)
HEARD = (
    "heard: a walk meets the other as soon as a neighbour of the node that it reached carries the "
    "other's trail, and the hop onto that neighbour (the one heard last, where there are several) "
    "is one more step: a broadcast medium"
)
STEPPED_ON = "stepped-on: only a node that carries the other's trail itself is a meeting"
STEPS = (
    "steps: of both walks together; the first makes one step, then the other k; a walk may go back "
    "where it came from, with weight deg(x), and its raised weights are its own"
)
ROUTED = (
    "a permutation without fixed points: every node is once a source and once a target; a path is "
    "publisher - meeting - subscriber along back pointers, ends included, walks at equal speed"
)
LAZY = (
    "networks: exactly n points uniform in the unit square (no torus), linked below the radius of "
    "a mean degree with borders; drawn lazily, not redrawn, and not connected"
)
GIANT_ENDS = (
    "ends: uniform among the nodes from which a breadth-first search reaches 1,000 nodes, or more "
    "than half of all: nodes of the giant component; the same pairs for all systems"
)
CENSORED = (
    "cut: a pair of walks that makes 50 n steps, and a route of 100 hops for each column of cells, "
    "has not met; pure walks run up to 10^6 nodes, because a pair takes about 0.4 n steps; "
    "directional walks run up to 10^8 nodes, and to 10^9 at one degree: 0.02 n steps a pair"
)
EXPONENTS = "exponents: least squares over the logarithms of n and of the medians at each n"
BOTH_WAYS = "both ways: every node is in one pair, and each pair has a path there and one back"
OF_NODES = (
    "weights of the node: a raised weight stays at its node, for all walks of a permutation that "
    "cross the node later"
)
INTERVALS = (
    "95 % intervals: bootstrap over networks (pairs on one network are not independent), "
    "Student's t with J - 1 degrees of freedom for J networks"
)


def _figure_load_interpretations(scale: Scale) -> list[Point]:
    permutations = 10 if scale == "paper" else 2
    return [
        interpretation_point(n, system, pairing, weights, permutations)
        for system, pairing, weights in claims_loads.LOAD_INTERPRETATIONS
        for n in claims_loads.SIZES_LOAD
    ]


def _figure_5(_scale: Scale) -> list[Point]:
    return [meeting_point(n, system, 1, "heard") for n in SIZES_BOXES for system in WALKS]


def _steps_of(interpretation: str) -> list[Point]:
    return [
        meeting_point(n, system, k, interpretation)
        for n in SIZES
        for system in WALKS
        for k in RATIOS
    ]


def _figure_load(scale: Scale) -> list[Point]:
    permutations = 10 if scale == "paper" else 2
    systems = (*WALKS, "shortest-path", "breadth-first-tree")
    return [
        load_point(n, system, permutations) for n in claims_loads.SIZES_LOAD for system in systems
    ]


def _networks(_scale: Scale) -> list[Point]:
    return [meeting_point(n, "directional-walk", 1, "heard") for n in SIZES]


def _figure_4_svg() -> str:
    from halfway.papers.directional_walks.picture import figure_4  # draws: loads matplotlib

    return figure_4()


def _printed(
    name: str, metric: str, *, x: str = "n", colour: str | None = None, **where: Scalar
) -> tuple[tuple[Scalar, Scalar, Scalar | None, float], ...]:
    return tuple(
        (row.cell[x], row.cell["system"], row.cell[colour] if colour else None, row.value)
        for row in published(HERE / f"{name}.csv")
        if row.metric == metric and where.items() <= row.cell.items()
    )


def _plot(
    form: Literal["boxplot", "bars", "curves"], metric: str, y_title: str, **given: Any
) -> Plot:
    """Return a plot of the experiments over the number of nodes, with a panel per system."""
    return Plot(form, metric, "n", "system", "nodes", y_title, **given)


def _growth_plot(metric: str, y_title: str) -> Plot:
    """Return a plot of paper 1's growth study: with logarithmic axes and one curve per degree."""
    return _plot("curves", metric, y_title, colour="degree", log=True, log_x=True)


MANY: dict[Scale, int] = {"quick": 12, "paper": 100}
FEW: dict[Scale, int] = {"quick": 4, "paper": 10}
STEPS_TITLE = "steps of both walks until they meet"

PAPER = Paper(
    name="directional-walks",
    title="Content Based Routing with Directional Random Walk for Failure Tolerance and Detection "
    "in Cooperative Large Scale Wireless Networks",
    authors="Pierre Leone, Cristina Muñoz",
    year=2013,
    bounds={
        "unmet": (0.0, math.inf),
        "stretch": (1.0, math.inf),
        **dict.fromkeys(("visited", "listed", "detected", "wrong"), (0.0, 1.0)),
    },
    figures=(
        Figure(
            "section-2", "Failure detection over the walks, and by gossip (no published values)",
            detector_points.detection_points, {"quick": 5, "paper": 30},
            claims_detectors.judge_detectors,
            (
                detector_points.MONITORS, detector_points.TIME_OUTS, detector_points.GOSSIPS,
                detector_points.HARSH, INTERVALS,
            ),
            (
                Plot(
                    "bars", "messages", "scenario", "system", "scenario",
                    "messages of a member in a second", "refresh_s", statistic="mean",
                ),
            ),
        ),
        Figure(
            "section-2-lists", "Lists of the members of a group (no published values)",
            claims_lists.list_points, {"quick": 5, "paper": 30}, claims_lists.judge_lists,
            (
                claims_lists.GROUPS, claims_lists.THREE_INTERPRETATIONS, claims_lists.ONE_ROLE,
                INTERVALS,
            ),
        ),
        Figure(
            "section-3", "A lone walk visits all nodes",
            lambda _scale: [visit_point(n) for n in SIZES], MANY, claims.judge_visits,
            (UNIFORM, INTERVALS),
        ),
        Figure(
            "section-4", "The networks: mean degree, and how rare a connected draw is",
            _networks, MANY, claims.judge_networks, (UNIFORM, INTERVALS),
        ),
        Figure(
            "figure-4", "Two walks meeting, and the loop-erased path between their initiators",
            lambda _scale: [], {"quick": 1, "paper": 1}, lambda _found: [], (HEARD,),
            drawing=Drawing(
                _figure_4_svg,
                "Two directional walks on a network of the paper's kind, and the path built where "
                "they meet. The paper shows another instance; the picture has no printed values.",
            ),
        ),
        Figure(
            "figure-5",
            "Time to intersection against the number of nodes, both walks at equal speed",
            _figure_5, MANY, claims.judge_figure_5, (UNIFORM, HEARD, STEPS, INTERVALS),
            (
                _plot(
                    "boxplot", "steps", STEPS_TITLE, where={"k": 1, "reading": "heard"}, log=True,
                    published=_printed("figure-6", "median steps", k=1),
                ),
            ),
        ),
        Figure(
            "step-lengths", "Length of the steps against the number of nodes",
            lambda _scale: [step_point(n, system) for n in SIZES_BOXES for system in WALKS],
            MANY, claims.judge_step_lengths, (UNIFORM, HEARD, INTERVALS),
        ),
        Figure(
            "figure-6", "Impact of asynchrony: one walk makes k steps while the other makes one",
            lambda _scale: _steps_of("heard"), MANY, claims.judge_figure_6,
            (UNIFORM, HEARD, STEPS, INTERVALS),
            (
                Plot(
                    "boxplot", "steps", "k", "system",
                    "steps of one walk while the other makes one", STEPS_TITLE, "n", log=True,
                    published=_printed("figure-6", "median steps", x="k", colour="n"),
                ),
            ),
        ),
        Figure(
            "figure-6-stepped-on",
            "Figure 6 in the other interpretation: only the trail itself is met",
            lambda _scale: _steps_of("stepped-on"), MANY, claims.judge_figure_6_stepped_on,
            (UNIFORM, STEPPED_ON, STEPS, INTERVALS),
        ),
        Figure(
            "figure-7", "Median and mean load of a node when a permutation is routed",
            _figure_load, FEW, claims_loads.judge_figure_7, (UNIFORM, HEARD, ROUTED, INTERVALS),
            (
                _plot(
                    "bars", "load", "mean paths through a node", statistic="mean",
                    published=_printed("figure-7", "mean load"),
                ),
            ),
        ),
        Figure(
            "figure-8", "Largest load of a node when a permutation is routed",
            _figure_load, FEW, claims_loads.judge_figure_8, (UNIFORM, HEARD, ROUTED, INTERVALS),
            (
                _plot(
                    "bars", "load", "largest load of any node", statistic="maximum",
                    published=_printed("figure-8", "maximum load"),
                ),
            ),
        ),
        Figure(
            "figures-7-8-interpretations",
            "Figures 7 and 8 under other interpretations of pairs and of weights",
            _figure_load_interpretations, FEW, claims_loads.judge_load_interpretations,
            (UNIFORM, HEARD, BOTH_WAYS, OF_NODES, INTERVALS),
        ),
        Figure(
            "figure-9", "Loads of all nodes for the ways of building paths",
            _figure_load, FEW, claims_loads.judge_figure_9, (UNIFORM, HEARD, ROUTED, INTERVALS),
            (_plot("boxplot", "load", "paths through a node", log=True),),
        ),
        Figure(
            "growth", "Growth with the number of nodes at a fixed mean degree",
            growth_points.growth_points, growth_points.REPLICATES, claims_growth.judge_growth,
            (LAZY, GIANT_ENDS, HEARD, CENSORED, EXPONENTS, INTERVALS),
            (
                _growth_plot("steps", "median steps until two walks meet"),
                _growth_plot("path", "median hops of the path"),
                _growth_plot("state", "median back pointers of both walks"),
            ),
        ),
        Figure(
            "growth-largest", "Directional walks on up to a billion nodes",
            growth_points.largest_points, growth_points.LARGEST_REPLICATES,
            claims_growth.judge_largest, (LAZY, GIANT_ENDS, HEARD, CENSORED, EXPONENTS, INTERVALS),
            (_growth_plot("steps", "median steps until two walks meet"),),
        ),
    ),
)  # fmt: skip
