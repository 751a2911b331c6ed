"""Figures 1 and 2: a route by greedy and perimeter mode; the ways through several points."""

import numpy as np

from halfway.bulk.georendezvous.routes import CellRoutes, Route
from halfway.papers.georendezvous.measurements import laid
from halfway.report.pictures.cell_picture import draw_route, draw_ways

# The paper draws sketches and says of what only in words; these are instances: a network thinner
# than the paper's, so that there are holes to go around, and one of its own density.
_THIN, _SENDER, GOAL = (150, 20.0, 38), 135, (1, 2)
_DENSE, _PUBLISHER, _SUBSCRIBER, _KEY, _POINTS = (600, 45.0, 2), 40, 520, 5, 4


def instance() -> tuple[CellRoutes, Route]:
    """The route of Figure 1."""
    cells = laid(*_THIN)
    return cells, cells.route(_SENDER, *GOAL)


def figure_1(form: str = "svg") -> bytes:
    """The picture, as svg, png or pdf; the same bytes each time."""
    cells, route = instance()
    title = f"{route.hops} hops to the home, {route.hops_toured - route.hops} around its perimeter"
    return draw_route(cells, route, GOAL, title=title, form=form)


def figure_2(form: str = "svg") -> bytes:
    """The picture, as svg, png or pdf; the same bytes each time."""
    cells = laid(*_DENSE)
    pairs = np.array([[_PUBLISHER, _SUBSCRIBER]])
    hops = cells.ways(pairs, _POINTS, _KEY).through[0]
    through = []
    for number in range(_POINTS):
        there = cells.route(_PUBLISHER, *cells.goal(_KEY, 0, number))
        on = cells.from_cell(there.home, *map(int, cells.cell[_SUBSCRIBER]))
        through.append((there, on))
    told = ", ".join(str(h) for h in sorted(hops.tolist()))
    return draw_ways(
        cells,
        through,
        int(hops.argmin()),
        title=f"hops through {_POINTS} points: {told}",
        form=form,
    )
