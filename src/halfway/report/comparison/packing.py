"""Replays made small enough for a page: integers, byte planes, gzip, base64; `decode.js` undoes it.

Times are whole ticks, and told as differences; places are told in 65,536 parts of the field. The
bytes of a column are sorted by their weight: the heavy ones are nearly all 0, and cost nothing.
"""

import base64
import gzip
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.replay.replay import Replay
from halfway.comparison.replay.scene import Columns, Stage
from halfway.report.pictures.layout import positions

_FINEST_S = 1e-4  # a tick, in runs of up to a day
_MOST_TICKS = 2**30
_PARTS = 65_535  # of the longer side of the field
# What a map can do without, the least missed first: every second row of the one is left out, of
# the others the later half.
_THINNED = ("sent", "reached", "steps")
_LEAST = 2_000  # rows that are left in any case

Ints = npt.NDArray[np.int64]


class Packed(NamedTuple):
    """A piece of a page: what its columns are, and their bytes in base64."""

    about: dict[str, Any]
    blob: str


class _Bytes:
    """Columns one after the other, with a note of each."""

    def __init__(self) -> None:
        self.planes: list[bytes] = []
        self.columns: list[dict[str, Any]] = []

    def add(self, name: str, values: Ints, summed: bool = False) -> None:
        """A column of integers; summed: it is told as differences."""
        told = np.diff(values, prepend=0) if summed else values
        low = int(told.min(initial=0))
        top = int(told.max(initial=0)) - low
        width = 1 if top < 1 << 8 else 2 if top < 1 << 16 else 4
        rows = (told - low).astype(f"<u{width}")
        self.planes.append(rows.view(np.uint8).reshape(-1, width).T.tobytes())
        self.columns.append(
            {"name": name, "rows": len(values), "width": width, "low": low, "summed": summed}
        )

    def packed(self, **about: Any) -> Packed:
        """All of them; the same bytes for the same columns."""
        squeezed = gzip.compress(b"".join(self.planes), 6, mtime=0)
        return Packed({**about, "columns": self.columns}, base64.b64encode(squeezed).decode())


def packed_stage(stage: Stage) -> Packed:
    """The world of a replay. Positions are the network's own, or a layout by hops."""
    network, out = stage.network, _Bytes()
    frames = stage.frames
    if frames is None:
        frames = positions(network)[None].astype(np.float32)
    low = frames.min(axis=(0, 1))
    size = np.maximum(frames.max(axis=(0, 1)) - low, 1e-9)
    unit = float(size.max()) / _PARTS
    places = np.round((frames - low) / unit).astype(np.int64)
    for axis, name in enumerate(("x", "y")):
        moves = np.diff(places[:, :, axis], axis=0, prepend=0)
        out.add(name, moves.reshape(-1))
    if stage.reach is None:
        start = np.repeat(np.arange(network.n, dtype=np.int64), network.degree)
        one_way = start < network.who
        out.add("from", start[one_way], summed=True)
        out.add("to", network.who[one_way] - start[one_way])
    tick = _tick(stage.seconds)
    told, wanted = stage.publications, stage.subscriptions
    out.add("published", _ticks(told["t"], tick), summed=True)
    for name, table, column in (
        ("publisher", told, "row"), ("topic", told, "topic"), ("event", told, "event"),
        ("subscriber", wanted, "row"), ("wanted", wanted, "topic"),
    ):  # fmt: skip
        out.add(name, table[column].astype(np.int64))
    return out.packed(
        n=network.n, seconds=stage.seconds, tick=tick, frames=len(frames), unit=unit,
        low=low.tolist(), size=size.tolist(), untold=stage.untold,
        reach=stage.reach, own=network.position is not None or stage.frames is not None,
    )  # fmt: skip


def packed_replay(replay: Replay, most_bytes: int) -> Packed:
    """A replay in at most so many bytes, as far as leaving rows out can do it; `left` tells of it.

    left: table -> (rows told, rows of the run) where the two differ.
    """
    tables = dict(replay.tables)
    while True:
        made = _packed(replay, tables)
        large = [name for name in _THINNED if len(tables[name]["t"]) > _LEAST]
        if len(made.blob) <= most_bytes or not large:
            return made
        name = max(large, key=lambda one: len(tables[one]["t"]) * len(tables[one]))
        tables[name] = _fewer(name, tables[name])


def _fewer(name: str, table: Columns) -> Columns:
    """About half of a table: every second transmission, or what came first."""
    rows = len(table["t"])
    which = slice(0, rows, 2) if name == "sent" else slice(0, rows // 2)
    return {column: values[which] for column, values in table.items()}


def _packed(replay: Replay, tables: dict[str, Columns]) -> Packed:
    out, tick = _Bytes(), _tick(replay.stage.seconds)
    left = {}
    for name, table in tables.items():
        for column, values in table.items():
            if column == "t":
                out.add(f"{name}.t", _ticks(values, tick), summed=True)
            else:
                out.add(f"{name}.{column}", values.astype(np.int64))
        total = replay.totals.get(name, len(table["t"]))
        if total > len(table["t"]):
            left[name] = (len(table["t"]), total)
    counts = np.array([len(rows) for rows in replay.expected], np.int64)
    out.add("expected.count", counts)
    out.add("expected.row", np.concatenate([np.zeros(0, np.int64), *replay.expected]))
    return out.packed(
        system=replay.system, labels=list(replay.labels), cells=list(replay.cells), left=left,
        until=replay.until, seconds=replay.stage.seconds, tick=tick,
    )  # fmt: skip


def _tick(seconds: float) -> float:
    return max(_FINEST_S, seconds / _MOST_TICKS)


def _ticks(t: npt.NDArray[Any], tick: float) -> Ints:
    return np.round(t / tick).astype(np.int64)
