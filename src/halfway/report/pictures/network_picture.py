"""Pictures of networks and walks; equal runs give equal bytes. Loads matplotlib: import it late."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from matplotlib.patheffects import withStroke

from halfway.bulk.walks.walks import Meeting
from halfway.files import write_whole
from halfway.problem import Problem
from halfway.report import wording
from halfway.report.colours import BLUE, GOLD, INK, NODE, PAPER, VERMILION
from halfway.report.pictures.layout import Doubles, positions
from halfway.world.graphs.network import Network

FORMATS = ("png", "svg", "pdf")
_LINK, _STAR, _WALK = "#c3cbd3", GOLD, (BLUE, VERMILION)
# The date and the library's version must not change the bytes.
_METADATA: dict[str, dict[str, None]] = {
    "png": {"Software": None},
    "svg": {"Date": None, "Creator": None, "Format": None, "Type": None},
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
_SETTINGS: dict[Any, Any] = {
    "svg.hashsalt": "halfway",
    "svg.fonttype": "none",  # keeps text as text, for search and screen readers
    "font.size": 10.0,
    "path.simplify": False,
    "text.parse_math": False,  # a user's id may contain a dollar sign
}
_LONGEST_NAME = 20
_LONG_NUMBER = re.compile(r"(-?\d+\.\d{2})\d+")


def checked_format(file: Path) -> str:
    """Return a network picture's format by file suffix. Raises Problem for another suffix or no
    folder.
    """
    suffix = file.suffix.lower().removeprefix(".")
    if suffix not in FORMATS:
        what = f"'{file.suffix or file.name}' is not a picture format"
        raise Problem(what, where=str(file), remedy="end the name in .png, .svg or .pdf")
    if not file.absolute().parent.is_dir():
        raise Problem("there is no such folder", where=str(file.parent), remedy="create it first")
    return suffix


def draw_walk(network: Network, meeting: Meeting, file: Path, *, title: str = "") -> None:
    """Draw a network picture of two walks and the path that joins them to `file` (png, svg or pdf).

    A network without positions gets a layout by hops. Raises Problem for another suffix or a file
    that cannot be written; an existing file is then kept.
    """
    write_whole(file, _rendered(network, meeting, title, checked_format(file)))


def walk_svg(network: Network, meeting: Meeting, *, title: str = "") -> str:
    """Return the network picture of `draw_walk` as SVG text."""
    return _rendered(network, meeting, title, "svg").decode()


def _rendered(network: Network, meeting: Meeting, title: str, form: str) -> bytes:
    def paint(figure: Figure, axes: Axes, place: Doubles) -> None:
        _draw_trails(axes, place, meeting)
        _draw_path(axes, place, meeting)
        _draw_ends(axes, network, place, meeting)
        end = "meet after" if meeting.node >= 0 else "have not met after"
        walks = f"{network.name}: two walks {end} {wording.count(meeting.steps, 'step')}"
        handles = _legend(network, meeting)
        caption(figure, axes, title or walks, handles, len(handles))

    return rendered(network, paint, form)


def rendered(network: Network, paint: Callable[[Figure, Axes, Doubles], None], form: str) -> bytes:
    """Return a network picture with the drawing of `paint` on it; deterministic bytes."""
    with mpl.rc_context():
        mpl.rcdefaults()  # the user's style would change the bytes
        mpl.rcParams.update(_SETTINGS)
        place = positions(network)
        figure = Figure(figsize=_size(place), facecolor=PAPER)
        FigureCanvasAgg(figure)
        axes = figure.add_axes((0.01, 0.06, 0.98, 0.88))
        axes.set_axis_off()
        axes.margins(0.025)
        axes.set_aspect("equal")
        _draw_network(axes, network, place)
        paint(figure, axes, place)
        page = io.BytesIO()
        figure.savefig(page, format=form, dpi=160, metadata=_METADATA[form])
    data = page.getvalue()
    return _LONG_NUMBER.sub(r"\1", data.decode()).encode() if form == "svg" else data


def _size(place: Doubles) -> tuple[float, float]:
    """Return a network picture's inches, in the network's proportions, with room for title and
    legend.
    """
    wide, high = np.maximum(np.ptp(place, axis=0), 1e-9)
    width, height = 8.0, float(np.clip(8.0 * high / wide, 3.0, 8.0))
    if high > wide:
        width = float(np.clip(8.0 * wide / high, 5.0, 8.0))
    return width, height + 1.0


def _draw_network(axes: Axes, network: Network, place: Doubles) -> None:
    ends = np.repeat(np.arange(network.n), network.degree)
    once = ends < network.who
    pairs = np.stack([ends[once], network.who[once]], axis=1)
    thin = float(np.clip(40.0 / np.sqrt(network.n), 0.25, 0.9))
    if len(pairs):
        # One outline for all links: one path per link makes an SVG ten times as large.
        codes = np.tile([Outline.MOVETO, Outline.LINETO], len(pairs))
        outline = Outline(place[pairs].reshape(-1, 2), codes)
        axes.add_patch(PathPatch(outline, fill=False, edgecolor=_LINK, linewidth=thin, zorder=1))
    size = float(np.clip(4000.0 / network.n, 0.8, 22.0))
    axes.scatter(place[:, 0], place[:, 1], s=size, color=NODE, linewidths=0, zorder=2)
    axes.autoscale_view()


def _draw_trails(axes: Axes, place: Doubles, meeting: Meeting) -> None:
    for trail, colour, order in zip(meeting.trails, _WALK, (4, 3), strict=True):
        rows = place[np.asarray(trail, dtype=np.int64)]
        faint = float(np.clip(1.15 - np.log10(max(len(rows), 1)) / 4.5, 0.35, 0.9))
        axes.plot(
            *rows.T,
            color=colour,
            alpha=faint,
            linewidth=1.3,
            zorder=order,
            solid_joinstyle="round",
            solid_capstyle="round",
        )


def _draw_path(axes: Axes, place: Doubles, meeting: Meeting) -> None:
    """Draw the path in a network picture with an outline, each leg in the colour of its walk."""
    if len(meeting.path) == 0:
        return
    turn = int(np.flatnonzero(meeting.path == meeting.node)[0])
    style: dict[str, Any] = {"solid_joinstyle": "round", "solid_capstyle": "round"}
    rows = place[meeting.path]
    axes.plot(*rows.T, color=PAPER, linewidth=7.0, alpha=0.85, zorder=5, **style)
    axes.plot(*rows.T, color=INK, linewidth=5.0, zorder=6, **style)
    for leg, colour in zip((rows[: turn + 1], rows[turn:]), _WALK, strict=True):
        axes.plot(*leg.T, color=colour, linewidth=2.2, zorder=7, **style)


def _draw_ends(axes: Axes, network: Network, place: Doubles, meeting: Meeting) -> None:
    for trail, colour in zip(meeting.trails, _WALK, strict=True):
        row = int(trail[0])
        x, y = place[row]
        axes.scatter(x, y, s=26, color=colour, linewidths=0, zorder=9)
        axes.scatter(x, y, s=190, facecolors="none", edgecolors=colour, linewidths=2.2, zorder=9)
        axes.annotate(
            _name(network, row),
            (x, y),
            xytext=(0, 11),
            textcoords="offset points",
            ha="center",
            va="bottom",
            color=colour,
            weight="bold",
            zorder=10,
            path_effects=[withStroke(linewidth=3.0, foreground=PAPER)],
        )
    if meeting.node >= 0:
        x, y = place[meeting.node]
        star: dict[str, Any] = {"marker": "*", "color": _STAR, "edgecolors": INK}
        axes.scatter(x, y, s=330, linewidths=1.1, zorder=10, **star)


def caption(
    figure: Figure, axes: Axes, title: str, handles: list[Any], columns: int, gap: float = 1.6
) -> None:
    """Write the title above a picture of a network or of cells, and the legend below the picture.
    gap: the space between columns, in ems.
    """
    figure.text(0.5, 0.968, title, ha="center", va="center", color=INK, fontsize=12)
    axes.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, -0.005),
        ncols=columns,
        frameon=False,
        handlelength=gap,
        columnspacing=gap,
        labelcolor=INK,
        fontsize=9.5,
    )


def _legend(network: Network, meeting: Meeting) -> list[Any]:
    handles = [
        Line2D(
            [],
            [],
            color=colour,
            linewidth=2,
            label=f"walk from {_name(network, int(trail[0]))} ({wording.count(steps, 'step')})",
        )
        for trail, steps, colour in zip(meeting.trails, meeting.steps_each, _WALK, strict=True)
    ]
    if meeting.node >= 0:
        path = f"path of {wording.count(len(meeting.path) - 1, 'hop')}"
        handles += [
            Line2D([], [], color=INK, linewidth=5.0, label=path),
            Line2D([], [], marker="*", linestyle="", markersize=13, markerfacecolor=_STAR,
                   markeredgecolor=INK, label=f"meet at {_name(network, meeting.node)}"),
        ]  # fmt: skip
    return handles


def _name(network: Network, row: int) -> str:
    """Return the user's id of a row in a network picture, cut to a length that fits."""
    label = network.label(row)
    return label if len(label) <= _LONGEST_NAME else f"{label[: _LONGEST_NAME - 1]}…"
