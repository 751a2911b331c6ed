"""The tables of a replay: columns of one length in order of time, out of what a trace told."""

import numpy as np

from halfway.comparison.replay.scene import Columns
from halfway.comparison.replay.trace import Gathered, Ints, Kinds, Rows

MOST_TOLD = 150_000  # first receptions, and steps of walks: beyond it the later ones are left out
# What a transmission is for.
EVENT, WALK, OVERLAY, OTHER = 0, 1, 2, 3
_WHAT = {"node down": 0, "node up": 1, "link down": 2, "link up": 3}


def sent(some: Rows, kinds: Kinds) -> Columns:
    """t, source, to (-1: everybody near), role, event (-1: none) of transmissions.

    One that nobody heard is in no trace.
    """
    kind, reading = some.of["kind"], kinds.reading
    carried = kinds.carry(some)
    role = np.full(len(kind), OTHER, np.int32)
    overlay = (*reading.links, *reading.cuts, reading.belongs, reading.homes)
    role[np.isin(kind, kinds.numbers(overlay))] = OVERLAY
    role[np.isin(kind, [number for number, _ in kinds.walks])] = WALK
    role[carried] = EVENT
    event = np.where(carried, some.of["event"], -1)
    to = np.where(some.of["next"] >= 0, some.of["row"], -1)
    return some.table(source=some.of["source"], to=to, role=role, event=event)


def reached(hops: Rows, most_event: int) -> Columns:
    """t, row, source, event: who first heard of each event from whom."""
    some = hops.part(hops.of["event"] < most_event)
    return some.table(row=some.of["row"], source=some.of["source"], event=some.of["event"])


def steps(telling: Rows, kinds: Kinds) -> tuple[Columns, tuple[str, ...]]:
    """t, source, row, label, topic of the steps of walks; and the labels."""
    labels: list[str] = []
    parts: list[Columns] = []
    for number, declared in kinds.walks:
        some = telling.part(telling.of["kind"] == number)
        if declared.addressed:
            some = some.part(some.of["target"] == some.of["row"])
        which = some.args[:, max(declared.number, 0)] * (declared.number >= 0)
        label = (which % len(declared.labels) + len(labels)).astype(np.int32)
        labels += declared.labels
        of = some.of
        parts.append(some.table(source=of["source"], row=of["row"], label=label, topic=of["topic"]))
    return merged(parts, ("source", "row", "label", "topic")), tuple(labels)


def meetings(read: Gathered, kinds: Kinds) -> Columns:
    """t, row, topic of meetings: where news of them starts, each once."""
    parts = []
    for declared in kinds.reading.meetings:
        number = kinds.number(declared.kind)
        for some, at in ((read.telling, "source"), (read.told, "row")):
            found = some.part(some.of["kind"] == number)
            if declared.fresh >= 0:
                found = found.part(found.args[:, declared.fresh] == 0)
            parts.append(found.table(row=found.of[at], topic=found.of["topic"]))
    return _once(merged(parts, ("row", "topic")), "row", "topic")


def overlay(telling: Rows, kinds: Kinds) -> Columns:
    """t, a, b, made (1, or 0 where it is cut) of links of an overlay, by what makes it."""
    number = {
        **dict.fromkeys(kinds.numbers(kinds.reading.links), 1),
        **dict.fromkeys(kinds.numbers(kinds.reading.cuts), 0),
    }
    some = telling.part(np.isin(telling.of["kind"], list(number)))
    made = np.array([number[int(kind)] for kind in some.of["kind"]], np.int32)
    return some.table(a=some.of["source"], b=some.of["row"], made=made)


def belongings(announced: Rows, kind: int) -> Columns:
    """t, row, broker: whenever a node is heard to belong to another broker than before."""
    some = announced.part((announced.of["kind"] == kind) & (announced.of["topic"] >= 0))
    order = np.argsort(some.of["source"], kind="stable")
    row, broker = some.of["source"][order], some.of["topic"][order]
    new = np.ones(len(order), bool)
    new[1:] = (row[1:] != row[:-1]) | (broker[1:] != broker[:-1])
    some = some.part(np.sort(order[new]))
    return some.table(row=some.of["source"], broker=some.of["topic"])


def homes(announced: Rows, kind: int) -> Columns:
    """t, row, topic: whenever a node shows for the first time that it is in a topic's home cell."""
    some = announced.part((announced.of["kind"] == kind) & (announced.of["topic"] >= 0))
    return _once(some.table(row=some.of["source"], topic=some.of["topic"]), "row", "topic")


def changes(faults: Rows) -> Columns:
    """t, what (0 node down, 1 up, 2 link down, 3 up), a, b (-1) of faults."""
    code = np.array([_WHAT.get(word, -1) for word in (*faults.words, "")], np.int32)
    what: Ints = code[faults.what]
    return faults.table(what=what, a=faults.of["row"], b=faults.of["source"])


def merged(parts: list[Columns], names: tuple[str, ...]) -> Columns:
    """Tables of the same columns as one, in order of time."""
    empty: Columns = {"t": np.zeros(0), **{name: np.zeros(0, np.int32) for name in names}}
    every = [empty, *parts]
    order = np.argsort(np.concatenate([part["t"] for part in every]), kind="stable")
    return {name: np.concatenate([part[name] for part in every])[order] for name in ("t", *names)}


def beginning(table: Columns) -> Columns:
    """The first MOST_TOLD rows."""
    return {name: column[:MOST_TOLD] for name, column in table.items()}


def _once(table: Columns, one: str, other: str) -> Columns:
    """Of each pair of values the first row."""
    pair = table[one].astype(np.int64) << 32 | (table[other].astype(np.int64) + 1)
    first = np.sort(np.unique(pair, return_index=True)[1])
    return {name: column[first] for name, column in table.items()}
