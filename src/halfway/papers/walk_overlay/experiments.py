"""Paper 2, declared: the points of each figure, scales, interpretations and pictures."""

from dataclasses import replace
from functools import partial
from itertools import product

from halfway.papers.walk_overlay import (
    claims_depth,
    claims_events,
    claims_path,
    claims_uninvolved,
    claims_walks,
)
from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Drawing, Figure, Paper, Plot, Scale

RADIUS = 0.05  # [dwo §VI] unit square, not a torus
NETWORK = ("n", "radius")
WALKS, SIZES, COUNTS = claims_path.WALKS, claims_path.SIZES, claims_path.COUNTS

UNIFORM = (
    "networks: n points uniform in the unit square (no torus), linked below r = 0.05, redrawn "
    "until connected; every walk and number of initiators has the same networks"
)
BUILT = (
    "the first two walks together, the others one by one; an initiator on a walk joins at once; "
    "a walk meets another as soon as a neighbour of its head is part of it, and steps onto it; "
    "the first meeting ends both walks"
)
MARKED = (
    "N(v) counts from when the walk leaves v (Algorithm 2 and Figure 5; equation 4 would count it "
    "at once); ties and several neighbours of other walks: uniformly"
)
SETS = (
    "each network is used for ten sets of initiators, as 100 networks for each number of "
    "initiators would not give the printed number of simulations"
)
ACTIVE = (
    "active path: all nodes of all walks; where a row says so, without the nodes that walks left"
)
PURE = "pure walks may revisit, choose uniformly, and meet in the same way"
INTERVALS = (
    "95 % intervals: bootstrap over networks (overlays on one network are not independent), "
    "Student's t with J - 1 degrees of freedom for J networks"
)
FILTERED = (
    "50 initiators: half subscribe (four subscriptions each, 64 topics; by content with intervals "
    "of two attributes), half publish; one filter for each overlay neighbour; a subscription is "
    "inserted under its narrowest attribute, as at most four dyadic cells"
)
BY_MESSAGES = (
    "by messages: 5 topics with a publisher and 4 subscribers each, 100 events in 100 s; walks of "
    "the system walk-overlay with its defaults; a message to one neighbour costs only that "
    "neighbour energy; outside the overlay: at the end"
)
JOULES = (
    "energy: of sending and receiving, with a CC2420 at 3 V; all nodes draw the same idle energy "
    "besides"
)
_CONSTRUCTION = (UNIFORM, BUILT, MARKED, PURE, SETS, ACTIVE, INTERVALS)


def _point(measure: str, cost_ms: float, n: int, **parameters: Scalar) -> Point:
    on_network = {"n": n, "radius": RADIUS, **parameters}
    return Point(f"halfway.papers.walk_overlay.{measure}", on_network, NETWORK, cost_ms)


def overlay_point(n: int, system: str, initiators: int, marking: str = "left") -> Point:
    """Return paper 2's point for experiments on overlays with `initiators` initiators on a network
    of n nodes.
    """
    return _point(
        "measurements:overlays",
        4.0 + 0.004 * n,
        n,
        system=system,
        initiators=initiators,
        sets=claims_path.SETS,
        marking=marking,
    )


def recipe_point(
    n: int, system: str, alpha: float = 1.0, beta: float = 0.0, branches: int = 1
) -> Point:
    """Return paper 2's point for pairs of walks under one form of cost (2)."""
    return _point(
        "measurements:recipes",
        10.0,
        n,
        system=system,
        alpha=alpha,
        beta=beta,
        branches=branches,
        sets=claims_path.SETS,
        alone=30,
    )


def _events(_scale: Scale) -> list[Point]:
    """Declare the points of the figure on paper 2's event layer: subscriptions on an overlay,
    and events across it.
    """
    return [
        _point(
            "event_layer:traffic",
            200.0,
            n,
            initiators=claims_events.INITIATORS,
            content=content,
            **{"bits each": bits},
        )
        for n, content, bits in product(SIZES, (False, True), claims_events.BITS)
    ]


def _panels(n: int, _scale: Scale) -> list[Point]:
    return [overlay_point(n, system, i) for system in WALKS for i in COUNTS[n]]


def _overlays(scale: Scale) -> list[Point]:
    return [point for n in SIZES for point in _panels(n, scale)]


def _reached(_scale: Scale) -> list[Point]:
    kinds = ((WALKS[0], "left"), (WALKS[0], "reached"), (WALKS[1], "left"))
    cells = product(SIZES, claims_path.SHOWN, kinds)
    return [overlay_point(n, system, i, marking) for n, i, (system, marking) in cells]


def _first_overlays(_scale: Scale) -> list[Point]:
    counts = (*claims_depth.FIRST, *claims_depth.MANY)
    return [overlay_point(*cell) for cell in product(SIZES, WALKS, counts)]


def _networks(_scale: Scale) -> list[Point]:
    return [overlay_point(n, system, 2) for n, system in product(SIZES, WALKS)]


def _recipes(_scale: Scale) -> list[Point]:
    directional = [
        recipe_point(n, WALKS[0], *weights, branches)
        for n, weights, branches in product(SIZES, claims_walks.WEIGHTS, claims_walks.BRANCHES)
    ]
    rumors = [recipe_point(n, WALKS[0], *claims_walks.RUMOR) for n in SIZES]
    return directional + rumors + [recipe_point(n, WALKS[1]) for n in SIZES]


def _joining(_scale: Scale) -> list[Point]:
    """Declare the points of paper 2's walks that join an overlay of a number of initiators."""
    return [
        _point("measurements:stopping", 60.0, n, system=system, initiators=initiators, sets=100)
        for n, system, initiators in product(SIZES, WALKS, claims_walks.JOINED)
    ]


def _simulated(_scale: Scale) -> list[Point]:
    """Declare the points of paper 2's nodes outside the overlay, by messages."""
    return [
        _point("uninvolved:uninvolved", 2000.0, n, hello=hello)
        for n, hello in product(SIZES, claims_uninvolved.HELLO)
    ]


def _overlay_picture(count: int) -> str:
    from halfway.papers.walk_overlay.picture import picture  # draws: loads matplotlib

    return picture(count)


_DEPTHS = Plot(
    "boxplot", "depth", "initiators", "system", "publishers and subscribers", "depth", colour="n"
)
_ACTIVE = Plot(
    form="boxplot",
    metric="active",
    x="initiators",
    panel="system",
    x_title="publishers and subscribers",
    y_title="nodes in the active path",
)

NETWORKS: dict[Scale, int] = {"quick": 12, "paper": claims_path.NETWORKS}
ONE: dict[Scale, int] = {"quick": 1, "paper": 1}

PAPER = Paper(
    name="walk-overlay",
    title="Design of a Novel Network Architecture for Distributed Event-Based Systems Using "
    "Directional Random Walks in an Ubiquitous Sensing Scenario",
    authors="Cristina Muñoz, Pierre Leone",
    year=2014,
    bounds=dict.fromkeys(
        (
            "depth", "reach", "false", "predicted", "members", "delivered",
            *(f"late after {count} means" for count in claims_walks.MULTIPLES),
        ),
        (0.0, 1.0),
    ),
    figures=(
        Figure(
            "section-4",
            "Cost (2) with its two weights, and walks of one and two branches",
            _recipes, NETWORKS, claims_walks.judge_section_4, (UNIFORM, BUILT, MARKED, INTERVALS),
        ),
        Figure(
            "section-6",
            "The networks, and how rare a connected draw is",
            _networks, NETWORKS, claims_path.judge_networks, (UNIFORM, SETS, INTERVALS),
        ),
        Figure(
            "figure-4",
            "Two directional walks intersecting",
            lambda _scale: [], ONE, lambda _found: [], (BUILT, MARKED),
            drawing=Drawing(
                partial(_overlay_picture, 2),
                "Two directional walks on a network of the paper's kind, each until the first of "
                "them meets the other. The paper shows another instance.",
            ),
        ),
        Figure(
            "figure-6",
            "An overlay of directional walks: publishers, subscribers and brokers",
            lambda _scale: [], ONE, lambda _found: [], (BUILT, MARKED),
            drawing=Drawing(
                partial(_overlay_picture, 10),
                "Ten initiators (green circles) and the brokers where their walks met (yellow "
                "squares), as in the paper, which shows another instance.",
            ),
        ),
        *(
            Figure(
                claims_path.PANELS[n],
                f"Nodes in the active path for numbers of publishers and subscribers, n = {n}",
                partial(_panels, n), NETWORKS, partial(claims_path.judge_panels, n), _CONSTRUCTION,
                plots=(_ACTIVE,),
            )
            for n in SIZES
        ),
        Figure(
            "figure-8",
            "Nodes in the active path, by size of the network",
            _overlays, NETWORKS, claims_path.judge_figure_8, _CONSTRUCTION,
            plots=(replace(_ACTIVE, colour="n"),),
        ),
        Figure(
            "figure-8-reached",
            "Nodes in the active path if equation (4) is taken literally",
            _reached, NETWORKS, claims_path.judge_reached, _CONSTRUCTION,
        ),
        Figure(
            "figure-9",
            "Depth of the overlay for numbers of publishers and subscribers",
            _overlays, NETWORKS, claims_depth.judge_figure_9, _CONSTRUCTION,
            plots=(_DEPTHS,),
        ),
        Figure(
            "figure-10",
            "Depth for few publishers and subscribers, and its correlation with active nodes",
            _first_overlays, NETWORKS, claims_depth.judge_figure_10, _CONSTRUCTION,
            plots=(_DEPTHS,),
        ),
        Figure(
            "bloom",
            "Bloom filters at brokers: costs, savings and losses (not in the paper)",
            _events, {"quick": 6, "paper": 20}, claims_events.judge_bloom,
            (UNIFORM, BUILT, FILTERED, INTERVALS),
            plots=(
                Plot("bars", "bloom", "bits each", "n", "bits of a filter for each subscription",
                     "mean transmissions of an event", colour="content", statistic="mean"),
            ),
        ),
        Figure(
            "stopping-rule",
            "When a walk that met no other may give up (not in the paper)",
            _joining, NETWORKS, claims_walks.judge_stopping, (UNIFORM, BUILT, MARKED, INTERVALS),
            plots=(
                Plot("boxplot", "steps", "initiators", "system", "initiators already present",
                     "steps until the walk meets another", colour="n", log=True),
            ),
        ),
        Figure(
            "uninvolved",
            "Energy and messages of the nodes outside the overlay",
            _simulated, {"quick": 4, "paper": 20}, claims_uninvolved.judge_uninvolved,
            (UNIFORM, BY_MESSAGES, JOULES, INTERVALS),
        ),
    ),
)  # fmt: skip
