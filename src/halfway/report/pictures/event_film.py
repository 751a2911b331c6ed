"""Films of runs: one event on its way, as a GIF for a talk. Loads matplotlib: import it late."""

import io
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
import numpy.typing as npt
from matplotlib.collections import Collection, LineCollection
from matplotlib.figure import Figure
from PIL import Image

from halfway.comparison.replay.replay import Replay
from halfway.files import write_whole
from halfway.problem import Problem
from halfway.report.colours import BLUE, INK, NODE, PAPER, VERMILION
from halfway.report.pictures.layout import Doubles, positions

_LINK, _EVENT, _WALK = "#dde2e7", VERMILION, BLUE
_RATE = 20  # pictures a second
_BEFORE, _AFTER = 0.08, 0.12  # shares of the film before the publication and after the last hop
_GLOW = 0.25  # share of the film for which a step of a walk stays visible
_LEAST_S = 0.05  # simulated time of a film
_COLOURS = 64
_SIZE, _DOTS = (6.4, 6.8), 80  # inches, and dots per inch


def check_film(file: Path) -> None:
    """Check the name of a film's file. Raises Problem for another suffix or a missing folder."""
    if file.suffix.lower() != ".gif":
        what = f"'{file.suffix or file.name}' is not the format of a film"
        remedy = "end the name in .gif; the page of a comparison records WebM"
        raise Problem(what, where=str(file), remedy=remedy)
    if not file.absolute().parent.is_dir():
        raise Problem("there is no such folder", where=str(file.parent), remedy="create it first")


def write_film(replay: Replay, file: Path, *, event: int = 1, seconds: float = 6.0) -> int:
    """Write the film of one event of a run as GIF, and return its number of pictures.

    event: the number of the publication, from 1; seconds: length of the film. The film begins
    shortly before the publication, and ends shortly after the last node received the event.
    Raises Problem for an event that the run does not have, and for a file that cannot be written.
    """
    count = len(replay.world.publications["t"])
    if not 1 <= event <= count:
        raise Problem(f"expected a number from 1 to {count}", where=f"--event {event}")
    times = _times(replay, event - 1, max(2, round(seconds * _RATE)))
    with mpl.rc_context({"text.parse_math": False, "path.simplify": False}):
        film = _Film(replay, event - 1, float(times[-1] - times[0]) * _GLOW)
        pictures = [film.picture(float(t)) for t in times]
    palette = pictures[-1].quantize(_COLOURS)
    flat = [picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture in pictures]
    content = io.BytesIO()
    flat[0].save(
        content, "GIF", save_all=True, append_images=flat[1:], duration=1000 // _RATE, loop=0
    )
    write_whole(file, content.getvalue())
    return len(flat)


def _times(replay: Replay, place: int, count: int) -> Doubles:
    """Return [count]: the simulated times of the film's pictures, in seconds."""
    published = replay.world.publications
    begin, reached = float(published["t"][place]), replay.tables["reached"]
    hops = reached["t"][reached["event"] == published["event"][place]]
    lasts = max(float(hops.max(initial=begin)) - begin, _LEAST_S)
    return np.linspace(begin - _BEFORE * lasts, begin + (1 + _AFTER) * lasts, count)


class _Film:
    """The figure of a film, whose fixed parts are drawn once, and the other parts for each
    picture.
    """

    def __init__(self, replay: Replay, place: int, glow_s: float) -> None:
        published = replay.world.publications
        self.replay, self.glow_s = replay, glow_s
        self.event = int(published["event"][place])
        self.begin, self.publisher = float(published["t"][place]), int(published["row"][place])
        of = replay.tables["reached"]["event"] == self.event
        self.hops = {name: column[of] for name, column in replay.tables["reached"].items()}
        self.expected = replay.expected[place]
        self.fixed = None if replay.world.frames is not None else positions(replay.world.network)
        self.figure = Figure(figsize=_SIZE, dpi=_DOTS)
        self.axes = self.figure.add_axes((0.02, 0.02, 0.96, 0.9))
        self.axes.set_aspect("equal")
        self.axes.axis("off")
        self.title = self.figure.text(0.03, 0.95, "", color=INK, fontsize=12)
        if self.fixed is not None:
            self._draw_links(self.fixed)
            self._frame(self.fixed)
        else:
            self._frame(np.asarray(replay.world.frames, np.float64).reshape(-1, 2))

    def picture(self, t: float) -> Image.Image:
        """Return the picture of a film at a simulated time."""
        place, drawn = self._places(t), list[Collection]()
        if np.any(known := self.hops["t"] <= t):
            drawn.append(self._lines(place, self.hops, known, _EVENT, 2.0))
        steps = self.replay.tables["steps"]
        recent = (steps["t"] <= t) & (steps["t"] > t - self.glow_s)
        if np.any(recent):
            drawn.append(self._lines(place, steps, recent, _WALK, 2.6))
        colours = np.full(len(place), NODE, dtype=object)
        colours[self.hops["row"][known].astype(int)] = _EVENT
        drawn.append(self._dots(place, s=14, c=colours.tolist(), zorder=4))
        arrived = np.isin(self.expected, self.hops["row"][known])
        for rows, face in ((self.expected[~arrived], PAPER), (self.expected[arrived], _EVENT)):
            ring: dict[str, Any] = {"facecolors": face, "edgecolors": _EVENT, "linewidths": 2.0}
            drawn.append(self._dots(place[rows], s=70, zorder=5, **ring))
        drawn.append(self._dots(place[[self.publisher]], s=110, c=INK, marker="s", zorder=6))
        self.title.set_text(
            f"{self.replay.system}, {1000 * (t - self.begin):+.0f} ms: "
            f"{int(arrived.sum())} of {len(self.expected)} subscribers"
        )
        raw = io.BytesIO()
        self.figure.savefig(raw, format="rgba", facecolor=PAPER)
        for artist in drawn:
            artist.remove()
        size = round(_SIZE[0] * _DOTS), round(_SIZE[1] * _DOTS)
        return Image.frombytes("RGBA", size, raw.getvalue()).convert("RGB")

    def _dots(self, place: Doubles, **looks: Any) -> Collection:
        """Return dots of a film's picture at places [k, 2]."""
        return self.axes.scatter(place[:, 0], place[:, 1], **looks)

    def _places(self, t: float) -> Doubles:
        if self.fixed is not None:
            return self.fixed
        frames = self.replay.world.frames
        assert frames is not None
        at = round(t / self.replay.world.seconds * (len(frames) - 1))
        return np.asarray(frames[min(max(at, 0), len(frames) - 1)], np.float64)

    def _lines(
        self, place: Doubles, table: Any, chosen: npt.NDArray[np.bool_], colour: str, wide: float
    ) -> LineCollection:
        """Return lines of a film from sources to rows of a table."""
        ends = np.stack([table[name][chosen].astype(int) for name in ("source", "row")], axis=1)
        made = LineCollection(list(place[ends]), colors=colour, linewidths=wide, alpha=0.8)
        self.axes.add_collection(made, autolim=False)
        return made

    def _draw_links(self, place: Doubles) -> None:
        network = self.replay.world.network
        sources = np.repeat(np.arange(network.n), network.degree)
        ends = np.stack([sources, network.who], axis=1)[sources < network.who]
        lines = LineCollection(list(place[ends]), colors=_LINK, linewidths=0.7)
        self.axes.add_collection(lines, autolim=False)

    def _frame(self, place: Doubles) -> None:
        """Show the part of the plane that all pictures of a film show."""
        low, high = np.nanmin(place, 0), np.nanmax(place, 0)
        edge = 0.04 * float((high - low).max()) or 1.0
        self.axes.set_xlim(low[0] - edge, high[0] + edge)
        self.axes.set_ylim(low[1] - edge, high[1] + edge)
