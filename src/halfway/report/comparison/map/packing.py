"""Replays packed for a page: integers, byte planes, gzip, base64; `decode.js` unpacks them.

Times are stored as differences of ticks, positions in 65,536 parts of the field. The bytes of a
column are sorted by weight: the high bytes are nearly all 0 and compress to nothing.
"""

import base64
import gzip
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.replay.replay import Replay
from halfway.comparison.replay.world import Columns, ReplayWorld
from halfway.report.pictures.layout import positions

_FINEST_S = 1e-4  # a tick, in runs of up to a day
_MOST_TICKS = 2**30
_PARTS = 65_535  # of the longer side of the field
# Tables that may be thinned: `sent` loses every second row, and the other tables lose their later
# half.
_THINNED = ("sent", "reached", "steps")
_LEAST = 2_000  # rows that are kept in any case

Longs = npt.NDArray[np.int64]


class Packed(NamedTuple):
    """Packed columns of a replay or a world: their description, and their bytes in base64."""

    about: dict[str, Any]
    blob: str


class _Bytes:
    """Columns of a replay to pack, one after the other, with a description of each."""

    def __init__(self) -> None:
        self.planes: list[bytes] = []
        self.columns: list[dict[str, Any]] = []

    def add(self, name: str, values: Longs, summed: bool = False) -> None:
        """Add a column of integers to a packed replay. summed: whether to store differences."""
        stored = np.diff(values, prepend=0) if summed else values
        low = int(stored.min(initial=0))
        top = int(stored.max(initial=0)) - low
        width = 1 if top < 1 << 8 else 2 if top < 1 << 16 else 4
        rows = (stored - low).astype(f"<u{width}")
        self.planes.append(rows.view(np.uint8).reshape(-1, width).T.tobytes())
        self.columns.append(
            {"name": name, "rows": len(values), "width": width, "low": low, "summed": summed}
        )

    def packed(self, **about: Any) -> Packed:
        """Return all columns of a replay packed; equal columns give equal bytes."""
        squeezed = gzip.compress(b"".join(self.planes), 6, mtime=0)
        return Packed({**about, "columns": self.columns}, base64.b64encode(squeezed).decode())


def packed_world(world: ReplayWorld) -> Packed:
    """Return the packed world of a replay, with the network's positions or a layout by hops."""
    network, out = world.network, _Bytes()
    frames = world.frames
    if frames is None:
        frames = positions(network)[None].astype(np.float32)
    low = frames.min(axis=(0, 1))
    size = np.maximum(frames.max(axis=(0, 1)) - low, 1e-9)
    unit = float(size.max()) / _PARTS
    places = np.round((frames - low) / unit).astype(np.int64)
    for axis, name in enumerate(("x", "y")):
        moves = np.diff(places[:, :, axis], axis=0, prepend=0)
        out.add(name, moves.reshape(-1))
    if world.reach is None:
        start = np.repeat(np.arange(network.n, dtype=np.int64), network.degree)
        one_way = start < network.who
        out.add("from", start[one_way], summed=True)
        out.add("to", network.who[one_way] - start[one_way])
    tick = _tick(world.seconds)
    publications, subscriptions = world.publications, world.subscriptions
    out.add("published", _ticks(publications["t"], tick), summed=True)
    for name, table, column in (
        ("publisher", publications, "row"),
        ("topic", publications, "topic"),
        ("event", publications, "event"),
        ("subscriber", subscriptions, "row"),
        ("wanted", subscriptions, "topic"),
    ):
        out.add(name, table[column].astype(np.int64))
    return out.packed(
        n=network.n, seconds=world.seconds, tick=tick, frames=len(frames), unit=unit,
        low=low.tolist(), size=size.tolist(), events_left_out=world.events_left_out,
        reach=world.reach, own=network.position is not None or world.frames is not None,
        names=world.names,
    )  # fmt: skip


def packed_replay(replay: Replay, most_bytes: int) -> Packed:
    """Return a replay packed into a limited number of bytes, as far as thinning allows.

    `left_out` in its description: table -> (rows kept, rows of the run) where they differ.
    """
    tables = dict(replay.tables)
    while True:
        made = _packed(replay, tables)
        large = [name for name in _THINNED if len(tables[name]["t"]) > _LEAST]
        if len(made.blob) <= most_bytes or not large:
            return made
        name = max(large, key=lambda part: len(tables[part]["t"]) * len(tables[part]))
        tables[name] = _fewer(name, tables[name])


def _fewer(name: str, table: Columns) -> Columns:
    """Return about half of a table that is packed for the map: every second row of transmissions,
    else the first half.
    """
    rows = len(table["t"])
    which = slice(0, rows, 2) if name == "sent" else slice(0, rows // 2)
    return {column: values[which] for column, values in table.items()}


def _packed(replay: Replay, tables: dict[str, Columns]) -> Packed:
    out, tick = _Bytes(), _tick(replay.world.seconds)
    left_out = {}
    for name, table in tables.items():
        for column, values in table.items():
            if column == "t":
                out.add(f"{name}.t", _ticks(values, tick), summed=True)
            else:
                out.add(f"{name}.{column}", values.astype(np.int64))
        total = replay.totals.get(name, len(table["t"]))
        if total > len(table["t"]):
            left_out[name] = (len(table["t"]), total)
    counts = np.array([len(rows) for rows in replay.expected], np.int64)
    out.add("expected.count", counts)
    out.add("expected.row", np.concatenate([np.zeros(0, np.int64), *replay.expected]))
    return out.packed(
        system=replay.system,
        labels=list(replay.labels),
        meeting=replay.meeting,
        cells=list(replay.cells),
        left_out=left_out,
        until=replay.until,
        seconds=replay.world.seconds,
        tick=tick,
    )


def _tick(seconds: float) -> float:
    return max(_FINEST_S, seconds / _MOST_TICKS)


def _ticks(t: npt.NDArray[Any], tick: float) -> Longs:
    return np.round(t / tick).astype(np.int64)
