"""Pictures of walk overlays in the colours of paper 2: green initiators, yellow brokers, walks."""

import numpy as np
import numpy.typing as npt
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from halfway.bulk.walk_overlay.overlay import WalkOverlay
from halfway.report.colours import BLUE, GOLD, GREEN, INK
from halfway.report.pictures.network_picture import caption, rendered

_WALK = BLUE


def overlay_svg(overlay: WalkOverlay, *, title: str = "") -> str:
    """Return the picture of a walk overlay as SVG text; without positions the layout is by hops."""

    def paint(figure: Figure, axes: Axes, place: npt.NDArray[np.float64]) -> None:
        links = LineCollection(list(place[overlay.links]), colors=_WALK, linewidths=2.0, zorder=4)
        axes.add_collection(links)
        x, y = place[overlay.rows].T
        axes.scatter(x, y, s=7, color=_WALK, linewidths=0, zorder=5)
        for rows, form_of, colour, size in _marks(overlay):
            x, y = place[rows].T
            axes.scatter(
                x,
                y,
                marker=form_of,
                s=size,
                color=colour,
                edgecolors=INK,
                linewidths=1.0,
                zorder=6,
            )
        caption(figure, axes, title, _legend(overlay), columns=3, gap=2.0)

    return rendered(overlay.network, paint, "svg").decode()


def _marks(overlay: WalkOverlay) -> list[tuple[npt.NDArray[np.int64], str, str, float]]:
    return [(overlay.brokers, "s", GOLD, 95.0), (overlay.initiators, "o", GREEN, 60.0)]


def _legend(overlay: WalkOverlay) -> list[Line2D]:
    names = ("broker: where two walks met", "publisher or subscriber")
    marks = [
        Line2D([], [], marker=form, linestyle="", markersize=8, markerfacecolor=colour,
               markeredgecolor=INK, label=name)
        for name, (_, form, colour, _) in zip(names, _marks(overlay), strict=True)
    ]  # fmt: skip
    return [*marks, Line2D([], [], color=_WALK, linewidth=2, label="directional walks")]
