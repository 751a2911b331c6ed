"""Random histories of GeoRendezvous runs, and the deliveries that must follow.

Cells fill and empty, clients subscribe and publish. The oracle knows only which nodes are members
when. While a component of populated cells neither splits nor merges, every event must reach every
subscriber in the publisher's component. After a split or merge, one renewal may pass: entries of
the other part are not soft state of this component. After losses, the events of the end alone must
arrive. A publisher may begin late, or withdraw and begin again.

    python -m tests.protocols.georendezvous.histories 0 10000

runs the histories of these seeds and prints each one that fails. Each clock has an offset and a
drift of its own; with `--given`, all clocks are equal. With `--plain`, no node acknowledges, no
reception fails, and publishers advertise from the beginning.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfway.core.message import START
from halfway.papers.georendezvous.message_run import cell_run, post, printed_rules
from halfway.protocols.georendezvous.cell_neighbours import silence_s
from halfway.protocols.georendezvous.messages import LEAVE
from halfway.protocols.georendezvous.rules import Rules
from halfway.protocols.parts.application import PUBLISH
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.network import Network
from tests.protocols.georendezvous.cell_networks import network_of
from tests.protocols.georendezvous.judged_runs import (
    CLIENTS,
    SUBSCRIBERS,
    TOPICS,
    JudgedRun,
    Periods,
    advertises,
    begin_clients,
    hops_of,
    publishing_of,
)
from tests.protocols.history import CLOCKS

BEACON_S, RENEWAL_S, LIFETIME_S, LISTEN_S = 8.0, 6.0, 15.0, 0.25
SETTLED_S = 4 * LISTEN_S  # from one change to the next: a newcomer listens, then moves entries
CHANGES, EVENTS = 10, 12  # clients stay, the other nodes join and leave
AFTER_S, END_S = 40.0, 2.0


@dataclass(frozen=True)
class Change:
    """A node joins (and is a member once it has listened) or leaves."""

    at: float
    row: int
    joins: bool


def components(cells: set[tuple[int, int]]) -> list[frozenset[tuple[int, int]]]:
    """The components of cells that touch, corners included."""
    found, left = [], set(cells)
    while left:
        part, waiting = set(), [left.pop()]
        while waiting:
            x, y = waiting.pop()
            part.add((x, y))
            near = {(x + a, y + b) for a in (-1, 0, 1) for b in (-1, 0, 1)} & left
            left -= near
            waiting += near
        found.append(frozenset(part))
    return found


def torn(before: set[tuple[int, int]], after: set[tuple[int, int]]) -> set[tuple[int, int]]:
    """Cells of components that a change has split or merged."""
    cells: set[tuple[int, int]] = set()
    old, new = components(before), components(after)
    for part in new:
        if sum(bool(part & other) for other in old) > 1:
            cells |= part
    for part in old:
        if sum(bool(part & other) for other in new) > 1:
            cells |= part
    return cells


def drawn(
    seed: int, *, replicas: int = 0, side: int = 4, nodes: int = 16,
    clock: ClockErrors | None = None, plain: bool = False,
) -> JudgedRun:  # fmt: skip
    """The history of a seed, ready to run."""
    random_state, link = np.random.default_rng(seed), hops_of(seed, plain)
    places = [
        (int(random_state.integers(side)), int(random_state.integers(side))) for _ in range(nodes)
    ]
    network = network_of(places)
    scalars = printed_rules(
        0.5, int(random_state.integers(2**63)), points=3, tried=2, beacon_interval_s=BEACON_S,
        renewal_interval_s=RENEWAL_S, lifetime_s=LIFETIME_S, join_listen_s=LISTEN_S,
        replicas=replicas, retries=link.retries,
    )  # fmt: skip
    cell = [tuple(map(int, np.floor(p / scalars.side))) for p in np.asarray(network.position)]
    initial = {*range(CLIENTS), *map(int, np.flatnonzero(random_state.random(nodes) < 0.5))}
    up, changes, at = set(initial), list[Change](), 3.0
    for _ in range(CHANGES):
        row = int(random_state.integers(CLIENTS, nodes))
        changes.append(Change(at, row, row not in up))
        up ^= {row}
        at += SETTLED_S + float(random_state.exponential(1.0))
    published = []  # (time, topic); the id of the event is its place
    for _ in range(EVENTS):
        near = changes[int(random_state.integers(CHANGES))].at  # mostly during a change
        after = [random_state.random() * SETTLED_S, random_state.random() * 0.01]
        when = near + float(random_state.choice(after))
        published.append((when, int(random_state.integers(TOPICS))))
    # A silent member is found last; then entries expire, and clients renew theirs.
    calm_s = changes[-1].at if link.success < 1.0 else 0.0
    healed_s = silence_s(scalars) + LIFETIME_S + RENEWAL_S if link.success < 1.0 else AFTER_S
    published += [(changes[-1].at + healed_s, topic) for topic in range(TOPICS)]
    publishing = publishing_of(seed, 3.0, changes[-1].at, plain)
    cells = _ready(network, scalars, initial, changes, clock=clock, success=link.success,
                   seconds=changes[-1].at + healed_s + END_S)  # fmt: skip
    begin_clients(cells, publishing)
    for event, (when, topic) in enumerate(published):
        post(cells, when, topic, PUBLISH, topic, event)
    judged = [(event, *one) for event, one in enumerate(published) if one[0] > calm_s + SETTLED_S]
    return JudgedRun(
        cells, _due(cell, initial, changes, judged, publishing), len(published), calm_s
    )


def _ready(
    network: Network, scalars: Rules, initial: set[int], changes: list[Change], **given: Any
) -> Simulation:
    """The run with all changes of its nodes. Absent nodes are down until they first join."""
    first = {change.row: change.at for change in reversed(changes) if change.row not in initial}
    absent = [Crash(node=row, at=0.0, for_=first.get(row)) for row in {*range(network.n)} - initial]
    cells = cell_run(network, scalars, topics=TOPICS, faults=absent, check=True, **given)
    for change in changes:
        if first.get(change.row) != change.at:
            post(cells, change.at, change.row, START if change.joins else LEAVE)
    return cells


def _due(
    cell: list[tuple[int, ...]],
    up: set[int],
    changes: list[Change],
    published: list[tuple[int, float, int]],
    publishing: list[Periods],
) -> set[tuple[int, int]]:
    """Every subscriber in the component of the publisher, unless that was torn just before, or the
    publisher has just begun or has withdrawn."""
    up = set(up)
    spells: list[tuple[float, set[tuple[int, int]], dict[tuple[int, int], float]]] = []
    cells = {cell[row] for row in up}
    torn_at: dict[Any, float] = {}
    spells.append((0.0, cells, dict(torn_at)))  # type: ignore[arg-type]
    for change in changes:
        now = change.at + (LISTEN_S if change.joins else 0.0)
        up ^= {change.row}
        after = {cell[row] for row in up}
        for place in torn(cells, after):  # type: ignore[arg-type]
            torn_at[place] = now
        cells = after
        spells.append((now, cells, dict(torn_at)))  # type: ignore[arg-type]
    due = set()
    for event, when, topic in published:
        _, there, wounds = [spell for spell in spells if spell[0] <= when][-1]
        soon = [spell for spell in spells if when < spell[0] <= when + SETTLED_S]
        parts = [p for p in components(there) if cell[topic] in p]
        if any(wounds.get(place, -99.0) > when - RENEWAL_S - SETTLED_S for place in parts[0]):
            continue
        if any(wound > when for spell in soon for wound in spell[2].values()):
            continue  # torn while the event is under way
        if advertises(publishing[topic], when, SETTLED_S):
            due |= {(event, row) for row in SUBSCRIBERS if cell[row] in parts[0]}
    return due


if __name__ == "__main__":
    first, last = [int(word) for word in sys.argv[1:] if not word.startswith("--")]
    clock, plain = None if "--given" in sys.argv else CLOCKS, "--plain" in sys.argv
    for one in range(first, last):
        if found_wrong := drawn(one, clock=clock, plain=plain).wrong():
            sys.stdout.write(f"{one}: {found_wrong}\n")
