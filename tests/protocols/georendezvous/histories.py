"""Random histories of GeoRendezvous runs, and the deliveries that must follow.

Cells fill and empty, clients subscribe and publish. The oracle knows only which nodes are members
when. While a component of populated cells neither splits nor merges, every event must reach every
subscriber in the publisher's component. After a split or merge, one renewal may pass: entries of
the other part are not soft state of this component.

    python -m tests.protocols.georendezvous.histories 0 10000

runs the histories of these seeds and prints each one that fails. Each clock has an offset and a
drift of its own; with `--given`, all clocks are equal.
"""

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from halfway.core.message import START
from halfway.papers.georendezvous.message_run import cell_run, delivered, post
from halfway.protocols.application import PUBLISH, SUBSCRIBE
from halfway.protocols.georendezvous.messages import ADVERTISE, LEAVE
from halfway.protocols.georendezvous.rules import Rules, rules
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.graphs.network import Network
from tests.protocols.georendezvous.cell_networks import network_of
from tests.protocols.histories import CLOCKS

BEACON_S, RENEWAL_S, LIFETIME_S, LISTEN_S = 8.0, 6.0, 15.0, 0.25
SETTLED_S = 4 * LISTEN_S  # from one change to the next: a newcomer listens, then moves entries
CHANGES, EVENTS, TOPICS = 10, 12, 2
CLIENTS = 4  # rows 0 and 1 publish, 2 and 3 subscribe; they stay, the others join and leave
AFTER_S = 40.0


@dataclass(frozen=True)
class Change:
    """A node joins (and is a member once it has listened) or leaves."""

    at: float
    row: int
    joins: bool


@dataclass(frozen=True)
class History:
    """A run ready to go, and the deliveries that must follow."""

    cells: Simulation
    due: set[tuple[int, int]]  # (event, row) that must be delivered

    def missed(self) -> set[tuple[int, int]]:
        """Run it; the deliveries that were due and did not happen."""
        self.cells.run()
        return self.due - set(delivered(self.cells))


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
    clock: ClockErrors | None = None,
) -> History:  # fmt: skip
    """The history of a seed, ready to run."""
    random_state = np.random.default_rng(seed)
    places = [
        (int(random_state.integers(side)), int(random_state.integers(side))) for _ in range(nodes)
    ]
    network = network_of(places)
    scalars = rules(
        0.5, int(random_state.integers(2**63)), points=3, tried=2, beacon_interval_s=BEACON_S,
        renewal_interval_s=RENEWAL_S, lifetime_s=LIFETIME_S, join_listen_s=LISTEN_S,
        replicas=replicas,
    )  # fmt: skip
    cell = [tuple(map(int, np.floor(p / scalars.side))) for p in np.asarray(network.position)]
    initial = {*range(CLIENTS), *map(int, np.flatnonzero(random_state.random(nodes) < 0.5))}
    up, changes, at = set(initial), [], 3.0
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
    cells = _ready(network, scalars, initial, changes, published, clock)
    return History(cells, _due(cell, initial, changes, published))


def _ready(
    network: Network,
    scalars: Rules,
    initial: set[int],
    changes: list[Change],
    published: list[tuple[float, int]],
    clock: ClockErrors | None,
) -> Simulation:
    """The run with all of its commands. Absent nodes are down until they first join."""
    first = {change.row: change.at for change in reversed(changes) if change.row not in initial}
    absent = [Crash(node=row, at=0.0, for_=first.get(row)) for row in {*range(network.n)} - initial]
    cells = cell_run(
        network, scalars, topics=TOPICS, seconds=changes[-1].at + AFTER_S,
        faults=absent, clock=clock,
    )  # fmt: skip
    for row in range(CLIENTS):
        kind = ADVERTISE if row < CLIENTS // 2 else SUBSCRIBE
        for topic in range(TOPICS):
            if kind == SUBSCRIBE or topic == row:
                post(cells, 1.0, row, kind, topic)
    for change in changes:
        if first.get(change.row) != change.at:
            post(cells, change.at, change.row, START if change.joins else LEAVE)
    for event, (when, topic) in enumerate(published):
        post(cells, when, topic, PUBLISH, topic, event)
    return cells


def _due(
    cell: list[tuple[int, ...]],
    up: set[int],
    changes: list[Change],
    published: list[tuple[float, int]],
) -> set[tuple[int, int]]:
    """Every subscriber in the component of the publisher, unless that was torn just before."""
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
    for event, (when, topic) in enumerate(published):
        _, there, wounds = [spell for spell in spells if spell[0] <= when][-1]
        soon = [spell for spell in spells if when < spell[0] <= when + SETTLED_S]
        parts = [p for p in components(there) if cell[topic] in p]
        if any(wounds.get(place, -99.0) > when - RENEWAL_S - SETTLED_S for place in parts[0]):
            continue
        if any(wound > when for spell in soon for wound in spell[2].values()):
            continue  # torn while the event is under way
        due |= {(event, row) for row in range(CLIENTS // 2, CLIENTS) if cell[row] in parts[0]}
    return due


if __name__ == "__main__":
    first, last = [int(word) for word in sys.argv[1:] if word != "--given"]
    for one in range(first, last):
        if not_delivered := drawn(one, clock=None if "--given" in sys.argv else CLOCKS).missed():
            sys.stdout.write(f"{one}: missed {sorted(not_delivered)}\n")
