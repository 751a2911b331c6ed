"""Pictures of georendezvous cells: routes in greedy and perimeter mode, and home cells."""

from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PatchCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from halfway.bulk.georendezvous.cell_routes import CellRoutes, Route
from halfway.report.colours import BLUE, GOLD, INK, PAPER, PURPLE, VERMILION
from halfway.report.pictures.layout import Doubles
from halfway.report.pictures.network_picture import caption, rendered

_EMPTY, _CELL = PAPER, "#dbe9f4"
_GREEDY, _PERIMETER, _TOUR, _HOME = BLUE, VERMILION, PURPLE, GOLD
_STYLES: tuple[tuple[str, Literal["-", ":"], str], ...] = (
    (_GREEDY, "-", "greedy mode"),
    (_PERIMETER, "-", "perimeter mode"),
    (_TOUR, ":", "the home perimeter"),
)
GridCell = tuple[int, int]


def route_svg(cells: CellRoutes, route: Route, goal: GridCell, *, title: str) -> str:
    """Return the picture of georendezvous cells as in [geo Fig. 1] as SVG text: one route to a
    home, by mode.
    """

    def paint(figure: Figure, axes: Axes, _place: Doubles) -> None:
        _draw_cells(axes, cells)
        _mark(axes, cells, route.home, _HOME)
        _draw_route(axes, cells, route, goal)
        start, end = _centre(cells, route.cells[0]), _centre(cells, goal)
        axes.scatter(*start, s=110, color=INK, zorder=8)
        axes.scatter(*end, marker="X", s=130, color=INK, edgecolors=_EMPTY, zorder=8)
        handles = [
            *(
                Line2D([], [], color=colour, linestyle=line, linewidth=2.4, label=name)
                for colour, line, name in _STYLES
            ),
            Line2D([], [], marker="o", linestyle="", color=INK, label="sender"),
            Line2D([], [], marker="X", linestyle="", color=INK, label="rendezvous point"),
            Line2D([], [], marker="s", linestyle="", color=_HOME, label="home cell"),
        ]
        caption(figure, axes, title, handles, columns=3)

    return rendered(cells.network, paint, "svg").decode()


def paths_svg(
    cells: CellRoutes, through: list[tuple[Route, Route]], best: int, *, title: str
) -> str:
    """Return the picture of [geo Fig. 2] as SVG text: all paths of cells from publisher over home
    to subscriber, with the shortest marked.

    through: for each point the routes from the publisher to its home and on to the subscriber.
    """

    def paint(figure: Figure, axes: Axes, _place: Doubles) -> None:
        _draw_cells(axes, cells)
        for p, legs in enumerate(through):
            _mark(axes, cells, legs[0].home, _HOME)
            for leg in legs:
                line = np.array([_centre(cells, cell) for cell in leg.cells])
                colour, width = (_GREEDY, 3.6) if p == best else (_PERIMETER, 1.3)
                axes.plot(*line.T, color=colour, linewidth=width, zorder=6 if p == best else 5)
        ends = ((through[0][0].cells[0], "o"), (through[0][1].cells[-1], "D"))
        for cell, mark in ends:
            axes.scatter(*_centre(cells, cell), marker=mark, s=120, color=INK, zorder=8)
        handles = [
            Line2D([], [], marker="o", linestyle="", color=INK, label="publisher"),
            Line2D([], [], marker="D", linestyle="", color=INK, label="subscriber"),
            Line2D([], [], marker="s", linestyle="", color=_HOME, label="rendezvous cells"),
            Line2D([], [], color=_GREEDY, linewidth=3.6, label="shortest path, kept"),
            Line2D([], [], color=_PERIMETER, linewidth=1.3, label="pruned"),
        ]
        caption(figure, axes, title, handles, columns=3)

    return rendered(cells.network, paint, "svg").decode()


def modes(route: Route, goal: GridCell) -> list[int]:
    """Return the mode in which the picture of cells draws each hop of a route: 0 greedy, 1
    perimeter, 2 the last perimeter traversal.

    A hop is greedy if it leaves the closest cell so far for one that is closer.
    """

    def rank(cell: GridCell) -> tuple[int, int, int]:
        across, up = cell[0] - goal[0], cell[1] - goal[1]
        return across * across + up * up, *cell

    parts, best = [], route.cells[0]
    for a, b in zip(route.cells, route.cells[1:], strict=False):
        parts.append(0 if a == best and rank(b) < rank(a) else 1)
        best = min(best, b, key=rank)
    return parts + [2] * (len(route.traversal) - 1)


def _draw_route(axes: Axes, cells: CellRoutes, route: Route, goal: GridCell) -> None:
    visited = [*route.cells, *route.traversal[1:]]
    line = np.array([_centre(cells, cell) for cell in visited])
    mode_of_hop = np.array(modes(route, goal))
    for mode, (colour, style, _) in enumerate(_STYLES):
        hops = np.stack([line[:-1], line[1:]], axis=1)[mode_of_hop == mode]
        shift = 0.08 * cells.side * (mode == len(_STYLES) - 1)  # next to the route's line
        axes.add_collection(
            LineCollection(
                list(hops + shift), colors=colour, linestyles=style, linewidths=2.8, zorder=6
            )
        )


def _draw_cells(axes: Axes, cells: CellRoutes) -> None:
    width = len(cells.populated) * cells.side  # of a rectangle that covers the links
    axes.add_patch(Rectangle((0.0, 0.0), width, width, facecolor=_EMPTY, zorder=1.2))
    squares = [_square(cells, (int(x), int(y))) for y, x in np.argwhere(cells.populated)]
    axes.add_collection(
        PatchCollection(squares, facecolor=_CELL, edgecolor=_EMPTY, linewidth=1.0, zorder=1.5)
    )


def _mark(axes: Axes, cells: CellRoutes, cell: GridCell, colour: str) -> None:
    square = _square(cells, cell)
    square.set(facecolor=colour, edgecolor=INK, linewidth=1.0, zorder=1.7)
    axes.add_patch(square)


def _square(cells: CellRoutes, cell: GridCell) -> Rectangle:
    return Rectangle((cell[0] * cells.side, cell[1] * cells.side), cells.side, cells.side)


def _centre(cells: CellRoutes, cell: GridCell) -> tuple[float, float]:
    return (cell[0] + 0.5) * cells.side, (cell[1] + 0.5) * cells.side
