"""Random lives of a town: cells fill and empty, clients subscribe and publish; who must hear what.

The oracle knows only which nodes take part when. While a component of populated cells neither
splits nor merges with another, whatever joins and leaves, every event must reach every subscriber
in the publisher's component. A component that has just split or merged is given one renewal: what
was kept in the other part, or for it, is not soft state of this component.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from halfway.papers.georendezvous.cell_run import Town
from halfway.protocols.georendezvous import handler as cell_hash
from tests.protocols.georendezvous.towns import built

BEACON, RENEW, LIFETIME, PATIENCE = 8.0, 6.0, 15.0, 0.25
SETTLED = 4 * PATIENCE  # seconds from one change to the next: a newcomer listens, then hands over
CHANGES, EVENTS, TOPICS = 10, 12, 2
CLIENTS = 4  # rows 0 and 1 publish, 2 and 3 subscribe; they stay, the others come and go


@dataclass(frozen=True)
class Change:
    """A node comes (it takes part once it has listened) or takes its leave."""

    at: float
    row: int
    comes: bool


@dataclass(frozen=True)
class History:
    """Everything that will happen, and what must follow."""

    town: Town
    changes: list[Change]
    published: list[tuple[float, int]]  # (time, topic); the number of the event is its place
    due: set[tuple[int, int]]  # (event, row) that must be delivered

    def missed(self) -> set[tuple[int, int]]:
        """Run it; which deliveries that were due did not happen."""
        self.town.run(self.changes[-1].at + 40.0)
        return self.due - set(self.town.delivered())


def components(cells: set[tuple[int, int]]) -> list[frozenset[tuple[int, int]]]:
    """Cells that touch, corners included, belong together."""
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


def drawn(seed: int, *, keepers: int = 0, side: int = 4, nodes: int = 16) -> History:
    """The history of a seed, ready to run."""
    random_state = np.random.default_rng(seed)
    places = [
        (int(random_state.integers(side)), int(random_state.integers(side))) for _ in range(nodes)
    ]
    network = built(places)
    rules = cell_hash.rules(
        0.5, int(random_state.integers(2**63)), points=3, tried=2, beacon=BEACON, renew=RENEW,
        lifetime=LIFETIME, patience=PATIENCE, keepers=keepers,
    )  # fmt: skip
    town = Town(network, rules, topics=TOPICS, events=EVENTS)
    cell = [tuple(map(int, np.floor(p / rules.side))) for p in np.asarray(network.position)]
    up = {*range(CLIENTS), *map(int, np.flatnonzero(random_state.random(nodes) < 0.5))}
    town.boot(0.0, *sorted(up))
    for row in range(CLIENTS):
        kind = cell_hash.ADVERTISE if row < CLIENTS // 2 else cell_hash.SUBSCRIBE
        for topic in range(TOPICS):
            if kind == cell_hash.SUBSCRIBE or topic == row:
                town.tell(1.0, row, kind, topic)
    changes, at = [], 3.0
    for _ in range(CHANGES):
        row = int(random_state.integers(CLIENTS, nodes))
        changes.append(Change(at, row, row not in up))
        up ^= {row}
        town.tell(at, row, 255 if row in up else cell_hash.LEAVE)
        at += SETTLED + float(random_state.exponential(1.0))
    published = []
    for event in range(EVENTS):
        near = changes[
            int(random_state.integers(CHANGES))
        ].at  # most happen while the change goes on
        when = near + float(
            random_state.choice([random_state.random() * SETTLED, random_state.random() * 0.01])
        )
        published.append((when, int(random_state.integers(TOPICS))))
        town.tell(when, published[-1][1], cell_hash.PUBLISH, published[-1][1], event)
    up ^= {change.row for change in changes if sum(c.row == change.row for c in changes) % 2}
    return History(town, changes, published, _due(cell, up, changes, published))


def _due(
    cell: list[tuple[int, ...]],
    up: set[int],
    changes: list[Change],
    published: list[tuple[float, int]],
) -> set[tuple[int, int]]:
    """Every subscriber in the component of the publisher, unless that was torn just before."""
    spells: list[tuple[float, set[tuple[int, int]], dict[tuple[int, int], float]]] = []
    cells = {cell[row] for row in up}
    torn_at: dict[Any, float] = {}
    spells.append((0.0, cells, dict(torn_at)))  # type: ignore[arg-type]
    for change in changes:
        now = change.at + (PATIENCE if change.comes else 0.0)
        up ^= {change.row}
        after = {cell[row] for row in up}
        for place in torn(cells, after):  # type: ignore[arg-type]
            torn_at[place] = now
        cells = after
        spells.append((now, cells, dict(torn_at)))  # type: ignore[arg-type]
    due = set()
    for event, (when, topic) in enumerate(published):
        _, there, wounds = [spell for spell in spells if spell[0] <= when][-1]
        soon = [spell for spell in spells if when < spell[0] <= when + SETTLED]
        parts = [p for p in components(there) if cell[topic] in p]
        if any(wounds.get(place, -99.0) > when - RENEW - SETTLED for place in parts[0]):
            continue
        if any(wound > when for spell in soon for wound in spell[2].values()):
            continue  # torn while the event is under way
        due |= {(event, row) for row in range(CLIENTS // 2, CLIENTS) if cell[row] in parts[0]}
    return due
