"""Paper 3 (GeoRendezvous), declared: points, scales and interpretations of its figures."""

from collections.abc import Callable, Iterable

from halfway.papers.georendezvous import claims, claims_beyond
from halfway.papers.georendezvous.claims import CLIENTS, FAIR_SIZES, FEW_POINTS, POINTS, SIZES
from halfway.papers.georendezvous.points import (
    TREE_INTERPRETATIONS,
    detour_point,
    loss_point,
    mobility_point,
    rival_point,
    signalling_point,
    theorem_point,
    tree_point,
)
from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Drawing, Figure, Paper, Plot, Scale, Summaries
from halfway.pipeline.reproduction.verdict import Verdict

UNIFORM = (
    "networks: n points uniform in the unit square (no torus), linked below the radius that gives "
    "a mean of 45 neighbours with the border counted, redrawn till connected; every number of "
    "points and every interpretation meets the same networks and pairs"
)
CELLS = (
    "cells: squares of side r/(2 √2), the largest whose neighbours always hear each other, from "
    "the corner of the square; closer is the total order (distance, x, y); a perimeter traversal "
    "ends on the first directed edge met again"
)
DIRECT = (
    "direct path: the same routing to the subscriber's cell, in hops between cells, on both sides "
    "of the ratio; pairs in one cell are dropped; overheads are ratios of averages over pairs"
)
POINTS_READ = (
    "points: uniform in the square by a keyed hash of (topic, i), the first of more points are "
    "those of fewer; best: fewest hops publisher - home - subscriber; closest: to the hashed point"
)
KNOWN = f"known: {claims.INTERPRETATIONS['known']} (the paper's footnote 1)"
TOURED = f"toured: {claims.INTERPRETATIONS['toured']}, in its path and its hop count"
TREES = (
    "the text does not determine the tree: all links once (the union of every path's hops), once "
    "a point (each point has a tree of its own), once a subscriber (homes send to each "
    "subscriber on its own, publishers to each home once)"
)
SHORTEST = (
    "d(A, B): hops of a shortest path between nodes; every node is tried as R; below n = 600 the "
    "rounding to whole hops dominates k l and nothing is judged"
)
INTERVALS = (
    "95 % intervals: bootstrap over networks (pairs on one network are not independent), "
    "Student's t with J - 1 degrees of freedom for J networks"
)
MESSAGES = (
    "message by message on an ideal radio (some ms a hop): beacons, renewals, every member of a "
    "cell stores its keys unless stated otherwise; a notification traverses the home perimeter"
)
WALKS = (
    "directional walks lose the nodes that GeoRendezvous with all keys on all members would lose, "
    "on the same networks; both walks are launched again as often as GeoRendezvous renews, and the "
    "nodes die at a random time between two launches"
)
SOME: dict[Scale, int] = {"quick": 8, "paper": 40}
MANY: dict[Scale, int] = {"quick": 30, "paper": 200}
SAME = (UNIFORM, CELLS, DIRECT, POINTS_READ, KNOWN, INTERVALS)
_OVERHEAD = "hops / hops of the direct path"


def _figure_1_svg() -> str:
    from halfway.papers.georendezvous.picture import figure_1  # draws: loads matplotlib

    return figure_1()


def _figure_2_svg() -> str:
    from halfway.papers.georendezvous.picture import figure_2  # draws: loads matplotlib

    return figure_2()


def _picture(name: str, title: str, drawing: Drawing) -> Figure:
    return Figure(name, title, lambda _: [], MANY, lambda _: [], (CELLS,), drawing=drawing)


def _figure(
    name: str,
    title: str,
    points: list[Point],
    judge: Callable[[Summaries], Iterable[Verdict]],
    interpretations: tuple[str, ...],
    *plots: Plot,
    replicates: dict[Scale, int] = MANY,
) -> Figure:
    """Return a figure of GeoRendezvous's experiments, with the same points at each scale."""
    return Figure(name, title, lambda _: points, replicates, judge, interpretations, plots)


def _curves(
    metric: str,
    x: str,
    panel: str,
    x_title: str,
    y_title: str,
    colour: str | None = None,
    **where: Scalar,
) -> Plot:
    return Plot("curves", metric, x, panel, x_title, y_title, colour, statistic="mean", where=where)


PAPER = Paper(
    name="georendezvous",
    title="Reducing Latency in Rendezvous-Based Publish-Subscribe Systems for Wireless Ad Hoc "
    "Networks",
    authors="Nuno Carvalho, Filipe Araújo, Luís Rodrigues",
    year=2006,
    bounds=dict.fromkeys(
        ("delivered", "share", "empty", "dropped", "best of all", "best of tried"), (0.0, 1.0)
    ),
    figures=(
        _picture(
            "figure-1", "The route of a message through the cells to its home",
            Drawing(
                _figure_1_svg,
                "Greedy hops, a path around a hole in perimeter mode, and the traversal that "
                "proves the home. The paper draws a sketch.",
            ),
        ),
        _picture(
            "figure-2", "Four rendezvous points of one topic, and the path through the best",
            Drawing(
                _figure_2_svg,
                "Advertisements and subscriptions go to all four; three of the notifications' "
                "paths are pruned.",
            ),
        ),
        _figure(
            "figure-3a", "Overhead of routing through the best of several rendezvous cells",
            [detour_point(n, i, i) for n in claims.SIZES_SHOWN for i in POINTS],
            claims.judge_figure_3a, SAME,
            _curves("overhead", "points", "n", "rendezvous cells", _OVERHEAD, reading="known"),
        ),
        _figure(
            "figure-3a-toured", "Figure 3(a) if every message traverses the home perimeter",
            [detour_point(n, i, i, "toured") for n in claims.SIZES_SHOWN for i in POINTS],
            claims.judge_figure_3a_toured,
            (UNIFORM, CELLS, DIRECT, POINTS_READ, TOURED, INTERVALS),
        ),
        _figure(
            "figure-3b", "Overhead against the size of the network",
            [detour_point(n, i, i) for n in SIZES for i in FEW_POINTS],
            claims.judge_figure_3b, SAME,
            _curves("overhead", "n", "system", "nodes", _OVERHEAD, "points", reading="known"),
        ),
        _figure(
            "figure-3c", "Overhead when only the closest of 8 rendezvous cells are tried",
            [*(detour_point(600, 8, m) for m in range(1, 9)), detour_point(600, 2, 2)],
            claims.judge_figure_3c, SAME,
            _curves("overhead", "tried", "n", "closest rendezvous cells tried, of 8", _OVERHEAD,
                  points=8),
        ),
        _figure(
            "figure-3d", "Length of the notification tree with 8 rendezvous cells against one",
            [tree_point(k, meaning) for meaning in TREE_INTERPRETATIONS for k in CLIENTS],
            claims.judge_figure_3d, (UNIFORM, CELLS, POINTS_READ, TREES, INTERVALS),
            _curves("tree ratio", "clients", "reading", "subscribers",
                    "hops with 8 points / with 1"),
        ),
        _figure(
            "theorem-3.1",
            "A random node is a good rendezvous with a probability that does not vanish",
            [theorem_point(n, k) for n in FAIR_SIZES for k in claims.SLACKS],
            claims.judge_theorem, (UNIFORM, SHORTEST, INTERVALS),
            _curves("share", "n", "k", "nodes", "share of nodes within l + 2 k l"),
        ),
        _figure(
            "signalling", "Unnecessary messages of a stable subscriber, message by message",
            [signalling_point(points) for points in claims_beyond.POINTS],
            claims_beyond.judge_signalling, (UNIFORM, CELLS, MESSAGES, INTERVALS), replicates=SOME,
        ),
        _figure(
            "beyond-loss", "Beyond the paper: members of the rendezvous cell die unannounced",
            [loss_point(*design, loss) for design in claims_beyond.DESIGNS
             for loss in claims_beyond.LOSSES],
            claims_beyond.judge_loss, (UNIFORM, CELLS, MESSAGES, WALKS, INTERVALS),
            replicates=SOME,
        ),
        _figure(
            "beyond-mobility", "Beyond the paper: mobile publishers and subscribers",
            [mobility_point(speed) for speed in claims_beyond.SPEEDS],
            claims_beyond.judge_mobility, (CELLS, MESSAGES, INTERVALS), replicates=SOME,
        ),
        _figure(
            "beyond-systems",
            "Path lengths against shortest paths, also of a single point and of directional walks",
            [rival_point(system) for system in claims_beyond.SYSTEMS],
            claims_beyond.judge_rivals, (UNIFORM, CELLS, POINTS_READ, INTERVALS),
        ),
    ),
)  # fmt: skip
