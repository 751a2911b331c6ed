"""Figures 1 and 2 of paper 3: a route in greedy and perimeter mode; paths through points."""

import numpy as np

from halfway.bulk.georendezvous.cell_routes import CellRoutes, Route
from halfway.papers.georendezvous.measurements import cells_of
from halfway.report.pictures.cell_picture import paths_svg, route_svg

# The paper draws sketches, described only in words. These are instances: one network sparser than
# the paper's, which has holes, and one of its density.
_THIN, _SENDER, GOAL = (150, 20.0, 38), 135, (1, 2)
_DENSE, _PUBLISHER, _SUBSCRIBER, _KEY, _POINTS = (600, 45.0, 2), 40, 520, 5, 4


def shown_route() -> tuple[CellRoutes, Route]:
    """Return the route in the picture of GeoRendezvous's Figure 1."""
    cells = cells_of(*_THIN)
    return cells, cells.route(_SENDER, *GOAL)


def figure_1() -> str:
    """Return the picture of GeoRendezvous's Figure 1 as SVG; the same bytes each time."""
    cells, route = shown_route()
    around = route.hops_with_traversal - route.hops
    title = f"{route.hops} hops to the home, {around} around its perimeter"
    return route_svg(cells, route, GOAL, title=title)


def figure_2() -> str:
    """Return the picture of GeoRendezvous's Figure 2 as SVG; the same bytes each time."""
    cells = cells_of(*_DENSE)
    pairs = np.array([[_PUBLISHER, _SUBSCRIBER]])
    hops = cells.paths(pairs, _POINTS, _KEY).through[0]
    through = []
    for number in range(_POINTS):
        there = cells.route(_PUBLISHER, *cells.goal(_KEY, 0, number))
        on = cells.from_cell(there.home, *map(int, cells.cell[_SUBSCRIBER]))
        through.append((there, on))
    title = f"hops through {_POINTS} points: " + ", ".join(map(str, sorted(hops.tolist())))
    return paths_svg(cells, through, int(hops.argmin()), title=title)
