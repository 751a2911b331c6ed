"""The tables of a replay: columns of one length in order of time, from a condensed trace."""

import numpy as np

from halfway.comparison.replay.map_kinds import MapKinds
from halfway.comparison.replay.trace_rows import CondensedTrace, TraceRows
from halfway.comparison.replay.world import Columns
from halfway.core.kinds import MapRole

MOST_ROWS = 150_000  # of first receptions, and of steps of walks; later ones are left out
# The role of a transmission.
EVENT, WALK, OVERLAY, OTHER = range(4)


def sent(trace_rows: TraceRows, kinds: MapKinds) -> Columns:
    """Return the replay table of transmissions: t, source, to (-1: all neighbours), role, event
    (-1: no event).

    A trace has only transmissions that at least one node received.
    """
    kind = trace_rows.of["kind"]
    carried = kinds.carry(kind, trace_rows.of["number"], trace_rows.t)
    role = np.full(len(kind), OTHER, np.int32)
    overlay = (MapRole.LINK, MapRole.CUT, MapRole.OWN_BROKER, MapRole.HOME_CELL)
    role[np.isin(kind, kinds.with_role(*overlay))] = OVERLAY
    role[np.isin(kind, [number for number, _ in kinds.steps])] = WALK
    role[carried] = EVENT
    event = np.where(carried, trace_rows.of["number"], -1)
    to = np.where(trace_rows.of["next"] >= 0, trace_rows.of["row"], -1)
    return trace_rows.columns(source=trace_rows.of["source"], to=to, role=role, event=event)


def reached(hops: TraceRows, most_event: int) -> Columns:
    """Return the replay table of first receptions by each node of each event: t, row, source,
    event.
    """
    some = hops.part(hops.of["number"] < most_event)
    return some.columns(row=some.of["row"], source=some.of["source"], event=some.of["number"])


def steps(receptions: TraceRows, kinds: MapKinds) -> tuple[Columns, tuple[str, ...]]:
    """Return the replay table of the steps of walks (t, source, row, label, topic), and the
    labels.
    """
    labels: list[str] = []
    parts: list[Columns] = []
    for number, step in kinds.steps:
        step_rows = receptions.part(receptions.of["kind"] == number)
        if step.addressed:
            step_rows = step_rows.part(step_rows.of["target"] == step_rows.of["row"])
        which = step_rows.args[:, max(step.number, 0)] * (step.number >= 0)
        label = (which % len(step.labels) + len(labels)).astype(np.int32)
        labels += step.labels
        of = step_rows.of
        parts.append(
            step_rows.columns(source=of["source"], row=of["row"], label=label, topic=of["topic"])
        )
    return merged(parts, ("source", "row", "label", "topic")), tuple(labels)


def meetings(trace: CondensedTrace, kinds: MapKinds) -> Columns:
    """Return the replay table of meetings, where the first report of each starts: t, row, topic."""
    parts = []
    for number, meets in kinds.meetings:
        for trace_rows, at in ((trace.receptions, "source"), (trace.delivered, "row")):
            met = trace_rows.part(trace_rows.of["kind"] == number)
            if meets.fresh >= 0:
                met = met.part(met.args[:, meets.fresh] == 0)
            parts.append(met.columns(row=met.of[at], topic=met.of["topic"]))
    return _once(merged(parts, ("row", "topic")), "row", "topic")


def overlay(receptions: TraceRows, kinds: MapKinds) -> Columns:
    """Return the replay table of an overlay's links: t, a, b, made (1, or 0 for a cut)."""
    links, cuts = kinds.with_role(MapRole.LINK), kinds.with_role(MapRole.CUT)
    some = receptions.part(np.isin(receptions.of["kind"], [*links, *cuts]))
    made = np.isin(some.of["kind"], links).astype(np.int32)
    return some.columns(a=some.of["source"], b=some.of["row"], made=made)


def belongings(announced: TraceRows, kinds: list[int]) -> Columns:
    """Return the replay table of nodes that announce another broker than before: t, row, broker."""
    announced_rows = _with_topic(announced, kinds)
    order = np.argsort(announced_rows.of["source"], kind="stable")
    row, broker = announced_rows.of["source"][order], announced_rows.of["topic"][order]
    new = np.ones(len(order), bool)
    new[1:] = (row[1:] != row[:-1]) | (broker[1:] != broker[:-1])
    announced_rows = announced_rows.part(np.sort(order[new]))
    return announced_rows.columns(
        row=announced_rows.of["source"], broker=announced_rows.of["topic"]
    )


def homes(announced: TraceRows, kinds: list[int]) -> Columns:
    """Return the replay table of nodes' first records in the home cell of a topic: t, row,
    topic.
    """
    some = _with_topic(announced, kinds)
    return _once(some.columns(row=some.of["source"], topic=some.of["topic"]), "row", "topic")


def merged(parts: list[Columns], names: tuple[str, ...]) -> Columns:
    """Return replay tables with the same columns as one table, in order of time."""
    empty: Columns = {"t": np.zeros(0), **{name: np.zeros(0, np.int32) for name in names}}
    every = [empty, *parts]
    order = np.argsort(np.concatenate([part["t"] for part in every]), kind="stable")
    return {name: np.concatenate([part[name] for part in every])[order] for name in ("t", *names)}


def beginning(table: Columns) -> Columns:
    """Return the first MOST_ROWS rows of a replay table."""
    return {name: column[:MOST_ROWS] for name, column in table.items()}


def _with_topic(some: TraceRows, kinds: list[int]) -> TraceRows:
    return some.part(np.isin(some.of["kind"], kinds) & (some.of["topic"] >= 0))


def _once(table: Columns, one: str, other: str) -> Columns:
    """Return the first row of each pair of values in a replay table."""
    pair = table[one].astype(np.int64) << 32 | (table[other].astype(np.int64) + 1)
    first = np.sort(np.unique(pair, return_index=True)[1])
    return {name: column[first] for name, column in table.items()}
