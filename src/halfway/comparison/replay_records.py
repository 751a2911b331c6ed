"""What a map needs of a trace: transmissions, first receptions, walks, links, faults."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.replay_readings import Reading
from halfway.comparison.replay_stage import Columns

MOST_READ = 4_000_000  # rows of a trace; what comes after them is not told
MOST_SENT = 120_000  # transmissions: beyond it every second one is left out, or every fourth …
MOST_REACHED = (
    150_000  # first receptions, and steps of walks: beyond it the later ones are left out
)
_ONE_AIR_S = 0.05  # receptions of one record within it are of one transmission
# What a transmission is for.
EVENT, WALK, OVERLAY, OTHER = 0, 1, 2, 3
_WORDS = {"node down": 0, "node up": 1, "link down": 2, "link up": 3}
_INTS = ("kind", "hops", "source", "target", "next", "topic", "event", "row")
Ints = npt.NDArray[np.int32]


class Rows(NamedTuple):
    """Rows of a trace: what happened (its code in `words`), when, and the columns of _INTS."""

    t: npt.NDArray[np.float64]
    what: npt.NDArray[np.int8]
    of: dict[str, Ints]
    args: Ints  # [rows, 8]
    words: tuple[str, ...]

    def part(self, which: npt.NDArray[Any]) -> "Rows":
        """Some of them, by a mask or by places."""
        of = {name: column[which] for name, column in self.of.items()}
        return Rows(self.t[which], self.what[which], of, self.args[which], self.words)

    def told(self, word: str) -> "Rows":
        """Those of one sort."""
        return self.part(self.what == self.words.index(word))

    def table(self, **columns: Ints) -> Columns:
        """Columns beside their time."""
        return {"t": self.t, **{name: column.astype(np.int32) for name, column in columns.items()}}


def rows_of(path: Path) -> tuple[Rows, bool]:
    """The rows of a trace, the first MOST_READ of them; and whether these are all."""
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    parts, count = [], 0
    for batch in _batches(file):
        parts.append(batch)
        count += len(batch.t)
        if count >= MOST_READ:
            break
    if not parts:
        of = {name: np.zeros(0, np.int32) for name in _INTS}
        return Rows(np.zeros(0), np.zeros(0, np.int8), of, np.zeros((0, 8), np.int32), ()), True
    of = {name: np.concatenate([part.of[name] for part in parts]) for name in _INTS}
    t, what, args = (np.concatenate([part[k] for part in parts]) for k in (0, 1, 3))
    return Rows(t, what, of, args, parts[0].words), count == file.metadata.num_rows


def _batches(file: Any) -> Iterator[Rows]:
    """Batch by batch; a trace's dictionaries are the same in all of them."""
    columns = ["at", "what", *_INTS, "args"]
    for batch in file.iter_batches(columns=columns):
        args = batch["args"].flatten().to_numpy().reshape(-1, 8)
        what = batch["what"].indices.to_numpy().astype(np.int8)
        of = {name: batch[name].to_numpy().astype(np.int32) for name in _INTS}
        words = tuple(batch["what"].dictionary.to_pylist())
        yield Rows(batch["at"].to_numpy(), what, of, args, words)


class Kinds:
    """The kinds of a system by what they do, from its reading, or by a guess without one."""

    def __init__(self, names: dict[int, str], reading: Reading | None) -> None:
        self._numbers = {name: kind for kind, name in names.items()}
        self.reading = reading or Reading()
        self.declared = reading is not None
        self.walks = [(self.number(steps.kind), steps) for steps in self.reading.steps]

    def number(self, name: str) -> int:
        """The kind of that name, -1 if the system has none."""
        return self._numbers.get(name, -1)

    def numbers(self, names: tuple[str, ...]) -> list[int]:
        """Their kinds, of those that there are."""
        return [self.number(name) for name in names if name in self._numbers]

    def carries(self, heard: Rows, first_at: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
        """Which records on the air carry an event a hop further.

        Of a system that nobody declared: all that name an event after its publication.
        """
        if self.declared:
            return np.isin(heard.of["kind"], self.numbers(self.reading.hops))
        event = heard.of["event"]
        known = (event >= 0) & (event < len(first_at))
        known[known] = heard.t[known] >= first_at[event[known]]
        return known


def sent(heard: Rows, kinds: Kinds, is_hop: npt.NDArray[np.bool_]) -> tuple[Columns, int]:
    """t, source, to (-1: everybody near), role, event (-1: none) of transmissions; how many in all.

    One that nobody heard is in no trace. They are thinned evenly to MOST_SENT.
    """
    first = _one_a_transmission(heard)
    some, hop = heard.part(first), is_hop[first]
    kind, reading = some.of["kind"], kinds.reading
    role = np.full(len(kind), OTHER, np.int32)
    overlay = (*reading.links, *reading.cuts, reading.belongs, reading.homes)
    role[np.isin(kind, kinds.numbers(overlay))] = OVERLAY
    role[np.isin(kind, [number for number, _ in kinds.walks])] = WALK
    role[hop] = EVENT
    event = np.where(hop, some.of["event"], -1)
    to = np.where(some.of["next"] >= 0, some.of["row"], -1)
    table = some.table(source=some.of["source"], to=to, role=role, event=event)
    total = len(kind)
    step = 1
    while total > step * MOST_SENT:
        step *= 2
    return {name: column[::step] for name, column in table.items()}, total


def _one_a_transmission(heard: Rows) -> npt.NDArray[np.int64]:
    """Places of the first reception of each transmission, in order of time."""
    names = ("source", "kind", "event", "topic", "target", "next", "hops")
    keys: list[Ints] = [*(heard.of[name] for name in names), *heard.args.T]
    order = np.lexsort([heard.t, *(key.astype(np.float64) for key in keys)])
    new = np.ones(len(order), bool)
    same = np.ones(max(len(order) - 1, 0), bool)
    for key in keys:
        same &= key[order][1:] == key[order][:-1]
    to_all = heard.of["next"][order][1:] < 0
    near = heard.t[order][1:] - heard.t[order][:-1] <= _ONE_AIR_S
    new[1:] = ~(same & to_all & near)
    return np.sort(order[new])


def reached(heard: Rows, is_hop: npt.NDArray[np.bool_], most_event: int) -> tuple[Columns, int]:
    """t, row, source, event: who first heard of each event from whom; how many in all."""
    some = heard.part(is_hop & (heard.of["event"] >= 0) & (heard.of["event"] < most_event))
    pair = some.of["event"].astype(np.int64) << 32 | some.of["row"].astype(np.int64)
    first = np.sort(np.unique(pair, return_index=True)[1])
    some = some.part(first)
    table = some.table(row=some.of["row"], source=some.of["source"], event=some.of["event"])
    return _beginning(table), len(first)


def steps(heard: Rows, kinds: Kinds) -> tuple[Columns, tuple[str, ...], int]:
    """t, source, row, label, topic of the steps of walks; the labels; how many steps in all."""
    labels: list[str] = []
    parts: list[Columns] = []
    for number, declared in kinds.walks:
        some = heard.part(heard.of["kind"] == number)
        if declared.addressed:
            some = some.part(some.of["target"] == some.of["row"])
        which = some.args[:, max(declared.number, 0)] * (declared.number >= 0)
        label = (which % len(declared.labels) + len(labels)).astype(np.int32)
        labels += declared.labels
        of = some.of
        parts.append(some.table(source=of["source"], row=of["row"], label=label, topic=of["topic"]))
    table = merged(parts, ("source", "row", "label", "topic"))
    return _beginning(table), tuple(labels), len(table["t"])


def meetings(heard: Rows, told: Rows, kinds: Kinds) -> Columns:
    """t, row, topic of meetings: where news of them starts, each once."""
    parts = []
    for declared in kinds.reading.meetings:
        number = kinds.number(declared.kind)
        for some, at in ((heard, "source"), (told, "row")):
            found = some.part(some.of["kind"] == number)
            if declared.fresh >= 0:
                found = found.part(found.args[:, declared.fresh] == 0)
            parts.append(found.table(row=found.of[at], topic=found.of["topic"]))
    table = merged(parts, ("row", "topic"))
    pair = table["row"].astype(np.int64) << 32 | (table["topic"].astype(np.int64) + 1)
    first = np.sort(np.unique(pair, return_index=True)[1])
    return {name: column[first] for name, column in table.items()}


def overlay(heard: Rows, kinds: Kinds) -> Columns:
    """t, a, b, made (1, or 0 where it is cut) of links of an overlay, by what makes it."""
    number = {
        **dict.fromkeys(kinds.numbers(kinds.reading.links), 1),
        **dict.fromkeys(kinds.numbers(kinds.reading.cuts), 0),
    }
    some = heard.part(np.isin(heard.of["kind"], list(number)))
    made = np.array([number[int(kind)] for kind in some.of["kind"]], np.int32)
    return some.table(a=some.of["source"], b=some.of["row"], made=made)


def belongings(heard: Rows, kind: int) -> Columns:
    """t, row, broker: whenever a node is heard to belong to another broker than before."""
    some = heard.part((heard.of["kind"] == kind) & (heard.of["topic"] >= 0))
    order = np.lexsort((np.arange(len(some.t)), some.of["source"]))
    row, broker = some.of["source"][order], some.of["topic"][order]
    new = np.ones(len(order), bool)
    new[1:] = (row[1:] != row[:-1]) | (broker[1:] != broker[:-1])
    some = some.part(np.sort(order[new]))
    return some.table(row=some.of["source"], broker=some.of["topic"])


def homes(heard: Rows, kind: int) -> Columns:
    """t, row, topic: whenever a node shows for the first time that it is in a topic's home cell."""
    some = heard.part((heard.of["kind"] == kind) & (heard.of["topic"] >= 0))
    pair = some.of["source"].astype(np.int64) << 32 | some.of["topic"].astype(np.int64)
    some = some.part(np.sort(np.unique(pair, return_index=True)[1]))
    return some.table(row=some.of["source"], topic=some.of["topic"])


def changes(all_rows: Rows) -> Columns:
    """t, what (0 node down, 1 up, 2 link down, 3 up), a, b (-1) of faults."""
    code = np.array([_WORDS.get(word, -1) for word in all_rows.words] or [-1], np.int32)
    what = code[all_rows.what]
    some = all_rows.part(what >= 0)
    return some.table(what=what[what >= 0], a=some.of["row"], b=some.of["source"])


def merged(parts: list[Columns], names: tuple[str, ...]) -> Columns:
    """Tables of the same columns as one, in order of time."""
    empty: Columns = {"t": np.zeros(0), **{name: np.zeros(0, np.int32) for name in names}}
    every = [empty, *parts]
    order = np.argsort(np.concatenate([part["t"] for part in every]), kind="stable")
    return {name: np.concatenate([part[name] for part in every])[order] for name in ("t", *names)}


def _beginning(table: Columns) -> Columns:
    return {name: column[:MOST_REACHED] for name, column in table.items()}
