"""A trace read piece by piece, so that memory holds what a map needs and not the whole run."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.replay.kinds import Reading
from halfway.comparison.replay.scene import Columns

MOST_READ = 30_000_000  # rows of a trace; what comes after them is not told
MOST_SENT = 120_000  # transmissions: beyond it every second one is left out, or every fourth …
_PIECE = 1_000_000  # rows at a time
_ONE_AIR_S = 0.05  # receptions of one record by all near, within it, are of one transmission
_INTS = ("kind", "hops", "source", "target", "next", "topic", "event", "row")
_SAME = ("source", "kind", "event", "topic", "target", "next", "hops")
_MIX = np.uint64(0x9E3779B97F4A7C15)
Ints = npt.NDArray[np.int32]
Mask = npt.NDArray[np.bool_]


class Rows(NamedTuple):
    """Rows of a trace in order of time."""

    t: npt.NDArray[np.float64]
    what: npt.NDArray[np.int8]  # a place in `words`
    of: dict[str, Ints]  # the columns of _INTS
    args: Ints  # [rows, 8]
    words: tuple[str, ...]

    def part(self, which: npt.NDArray[Any] | slice) -> "Rows":
        """Some of them, by a mask, by places or by a slice."""
        of = {name: column[which] for name, column in self.of.items()}
        return Rows(self.t[which], self.what[which], of, self.args[which], self.words)

    def are(self, word: str) -> Mask:
        """Which of them are of one sort."""
        if word not in self.words:
            return np.zeros(len(self.t), bool)
        return np.asarray(self.what == self.words.index(word))

    def table(self, **columns: Ints) -> Columns:
        """Columns beside their time."""
        return {"t": self.t, **{name: column.astype(np.int32) for name, column in columns.items()}}


class Kinds:
    """The kinds of a system by what they do, from its reading, or by a guess without one."""

    def __init__(
        self, names: dict[int, str], reading: Reading | None, first_at: npt.NDArray[np.float64]
    ) -> None:
        self._numbers = {name: kind for kind, name in names.items()}
        self._first_at = first_at  # [events] when each was published
        self.reading = reading or Reading()
        self.declared = reading is not None
        self.walks = [(self.number(steps.kind), steps) for steps in self.reading.steps]

    def number(self, name: str) -> int:
        """The kind of that name, -1 if the system has none."""
        return self._numbers.get(name, -1)

    def numbers(self, names: tuple[str, ...]) -> list[int]:
        """Their kinds, of those that there are."""
        return [self.number(name) for name in names if name in self._numbers]

    def carry(self, heard: Rows) -> Mask:
        """Which records on the air carry an event a hop further.

        Of a system that nobody declared: all that name an event after its publication.
        """
        if self.declared:
            return np.isin(heard.of["kind"], self.numbers(self.reading.hops))
        event = heard.of["event"]
        known = (event >= 0) & (event < len(self._first_at))
        known[known] = heard.t[known] >= self._first_at[event[known]]
        return known

    def tell(self) -> list[int]:
        """Kinds of which every reception counts: steps, meetings, links."""
        reading = self.reading
        names = [steps.kind for steps in reading.steps] + [one.kind for one in reading.meetings]
        return self.numbers((*names, *reading.links, *reading.cuts))


class Gathered(NamedTuple):
    """What is kept of a trace."""

    sent: Rows  # the first reception of each transmission, thinned to MOST_SENT
    all_sent: int  # transmissions before that
    announced: Rows  # first receptions of kinds that say who belongs where, none left out
    hops: Rows  # receptions that may be a node's first of an event
    telling: Rows  # receptions of kinds that are steps, meetings, links
    told: Rows  # to applications
    changes: Rows  # faults
    until: float | None  # seconds: where reading stopped; None: at the end


def gathered(path: Path, kinds: Kinds) -> Gathered:
    """Read a trace, MOST_READ rows of it at the most."""
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    kept: dict[str, list[Rows]] = {name: [] for name in Gathered._fields}
    announcing = kinds.numbers((kinds.reading.belongs, kinds.reading.homes))
    every, read, all_sent, until = 1, 0, 0, None
    for piece, rest in _pieces(file):
        read += len(piece.t)
        heard = piece.part(piece.are("heard") & (piece.of["source"] != piece.of["row"]))
        first, carried = heard.part(_one_a_transmission(heard)), kinds.carry(heard)
        kept["sent"].append(first.part(slice(-all_sent % every, None, every)))
        all_sent += len(first.t)
        while sum(len(part.t) for part in kept["sent"]) > MOST_SENT:
            whole = _joined(kept["sent"])
            kept["sent"], every = [whole.part(slice(None, None, 2))], 2 * every
        kept["announced"].append(first.part(np.isin(first.of["kind"], announcing)))
        kept["hops"].append(_firsts(heard.part(carried)))
        kept["telling"].append(heard.part(np.isin(heard.of["kind"], kinds.tell())))
        kept["told"].append(piece.part(piece.are("told")))
        faults = [piece.are(f"{what} {way}") for what in ("node", "link") for way in ("down", "up")]
        kept["changes"].append(piece.part(np.logical_or.reduce(faults)))
        if read >= MOST_READ and rest:
            until = float(piece.t[-1])
            break
    whole_of = {name: _joined(parts) for name, parts in kept.items()}
    return Gathered(
        whole_of["sent"], all_sent, whole_of["announced"], _firsts(whole_of["hops"]),
        whole_of["telling"], whole_of["told"], whole_of["changes"], until,
    )  # fmt: skip


def _pieces(file: Any) -> Iterator[tuple[Rows, bool]]:
    """About _PIECE rows at a time, and whether more follow; no transmission is in two of them."""
    waiting: list[Rows] = []
    for batch in file.iter_batches(columns=["at", "what", *_INTS, "args"]):
        args = batch["args"].flatten().to_numpy().reshape(-1, 8)
        what = batch["what"].indices.to_numpy().astype(np.int8)
        of = {name: batch[name].to_numpy().astype(np.int32) for name in _INTS}
        words = tuple(batch["what"].dictionary.to_pylist())
        waiting.append(Rows(batch["at"].to_numpy(), what, of, args, words))
        if sum(len(part.t) for part in waiting) >= _PIECE:
            rows = _joined(waiting)
            cut = int(np.searchsorted(rows.t, rows.t[-1] - _ONE_AIR_S))
            if cut > 0:
                yield rows.part(slice(0, cut)), True
            waiting = [rows.part(slice(cut, None))]
    yield _joined(waiting), False


def _joined(parts: list[Rows]) -> Rows:
    if not parts:
        of = {name: np.zeros(0, np.int32) for name in _INTS}
        return Rows(np.zeros(0), np.zeros(0, np.int8), of, np.zeros((0, 8), np.int32), ())
    if len(parts) == 1:
        return parts[0]
    of = {name: np.concatenate([part.of[name] for part in parts]) for name in _INTS}
    t, what = np.concatenate([p.t for p in parts]), np.concatenate([p.what for p in parts])
    return Rows(t, what, of, np.concatenate([p.args for p in parts]), parts[0].words)


def _one_a_transmission(heard: Rows) -> npt.NDArray[np.int64]:
    """Places of the first reception of each transmission, in order of time."""
    word = np.zeros(len(heard.t), np.uint64)
    for column in (*(heard.of[name] for name in _SAME), *heard.args.T):
        word = (word ^ column.astype(np.uint64)) * _MIX
        word ^= word >> np.uint64(29)
    order = np.argsort(word, kind="stable")  # of one word: in order of time, as they are
    word, t, next_ = word[order], heard.t[order], heard.of["next"][order]
    new = np.ones(len(order), bool)
    new[1:] = (word[1:] != word[:-1]) | (next_[1:] >= 0) | (t[1:] - t[:-1] > _ONE_AIR_S)
    return np.sort(order[new])


def _firsts(hops: Rows) -> Rows:
    """Of each event and row the first reception."""
    hops = hops.part(hops.of["event"] >= 0)
    pair = hops.of["event"].astype(np.int64) << 32 | hops.of["row"].astype(np.int64)
    return hops.part(np.sort(np.unique(pair, return_index=True)[1]))
