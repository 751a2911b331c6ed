"""Histories of an overlay: who joins, wants, publishes, leaves and dies, and who must be told."""

from typing import Any

import numpy as np

from halfway.core.message import MESSAGE
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay.handler import Rules, Subscription
from halfway.protocols.walk_overlay.messages import (
    CONNECTED,
    DELIVERED,
    JOIN,
    LAUNCH,
    LEAVE,
    LOST,
    NEVER,
    PUBLISH,
    SUBSCRIBE,
    UNMATCHED,
    UNSUBSCRIBE,
    WATCH,
)
from halfway.sim.engine import loop as engines
from halfway.sim.environment.changes import none
from halfway.sim.environment.neighbour_lists import exclude, roomy
from halfway.sim.radio.delays import Ideal
from halfway.world.graphs.network import Network

KEY = 7
SUBSCRIPTIONS = (
    Subscription(0, (None, None)),
    Subscription(1, (None, None)),
    Subscription(1, ((0.2, 0.4), None)),
    Subscription(1, ((0.0, 0.7), (0.45, 0.55))),
    Subscription(2, (None, (0.9, 1.0))),
    Subscription(2, ((-5.0, 9.0), (0.0, 0.3))),
)
# Every topic over a grid of values, the edges of the intervals among them.
EVENTS = [(t, (a, b)) for t in range(4) for a in (0.0, 0.2, 0.35, 0.4) for b in (0.5, 0.95)]
RULES = Rules(
    pure=False, alpha=1.0, beta=0.0, branches=1, rest=0.5, patience=0.01, settle=1.0,
    most_steps=1_000_000, filtered=True, bits=64, hashes=3, key=KEY,
)  # fmt: skip
BOOK = walk_overlay.catalogue(SUBSCRIPTIONS, EVENTS, KEY)
_LONG, _HOP = 1e6, 1e-3


def wants(s: int, event: int) -> bool:
    """Whether a subscription matches an event, in the obvious way."""
    topic, values = EVENTS[event]
    chosen = SUBSCRIPTIONS[s]
    inside = [
        interval is None or interval[0] <= value < interval[1]
        for interval, value in zip(chosen.intervals, values, strict=True)
    ]
    return topic == chosen.topic and all(inside)


class History:
    """One overlay and what its applications did and were told. Events are told once each."""

    def __init__(self, network: Network, seed: int, rules: Rules = RULES) -> None:
        self.network, self.rules, self.now = network, rules, 0.0
        names = np.arange(network.n, dtype=np.int32)
        widest = int(network.degree.max())
        self.state = walk_overlay.state(
            names, widest, len(SUBSCRIPTIONS), len(EVENTS), rules.bits // 32, seed
        )
        self.spare = widest * walk_overlay.most_emissions(self.state, rules)
        self.engine = engines.engine(network.n, 4 * self.spare, 256)
        self.neighbourhood = roomy(network.neighbourhood())  # what is known of neighbours
        self.reach = network.neighbourhood()
        self.wanted: dict[int, set[int]] = {row: set() for row in range(network.n)}
        self.told = 0  # letters to applications that were looked at
        self.dead: set[int] = set()

    def post(self, kind: int, row: int, topic: int = -1, event: int = -1, at: float = 0.0) -> None:
        """A letter to a node, now or a little later."""
        engines.post(self.engine, self.now + at, row, kind, topic, 0, event)

    def settle(self) -> list[tuple[int, int, int]]:
        """Until nothing moves; (kind, row, event) of what applications were told meanwhile."""
        while True:
            why = engines.run(
                self.state, self.rules, self.neighbourhood, self.engine, Ideal(_HOP), self.reach,
                False, none(), np.inf, engines.NEVER, self.spare,
            )  # fmt: skip
            if why == engines.IDLE:
                break
            self.engine = engines.grown(self.engine)
        assert self.engine.out.tally[1] == 0
        self.now += _LONG
        log = self.engine.applications
        fresh = range(self.told, int(log.tally[0]))
        self.told = int(log.tally[0])
        commands = log.record.view(MESSAGE)
        return [
            (int(commands["kind"][a]), int(log.row[a]), int(commands["event"][a])) for a in fresh
        ]

    def begin(self, first: int, second: int) -> None:
        """The first two initiators."""
        self.post(LAUNCH, first)
        self.post(LAUNCH, second, at=0.1)
        self.settle()

    def join(self, row: int) -> None:
        """One more initiator."""
        self.post(JOIN, row)
        self.settle()

    def subscribe(self, row: int, s: int, wanted: bool = True) -> None:
        """From now on, or no more."""
        self.post(SUBSCRIBE if wanted else UNSUBSCRIBE, row, topic=s)
        (self.wanted[row].add if wanted else self.wanted[row].discard)(s)
        self.settle()

    def leave(self, row: int) -> None:
        """Out of the overlay; what it wants stays with it."""
        self.post(LEAVE, row)
        self.settle()

    def die(self, row: int) -> None:
        """The node is no more, and is missed when its neighbours look for it."""
        self.dead.add(row)
        self.engine.incarnation[row] += 1  # odd while down
        for near in map(int, self.network.neighbours(row)):
            exclude(self.neighbourhood, near, row)
            self.post(WATCH, near, at=0.01)
        self.settle()

    def sever(self, a: int, b: int) -> None:
        """The link between two nodes is gone, and both look for each other."""
        for one, other in ((a, b), (b, a)):
            exclude(self.neighbourhood, one, other)
            self.post(WATCH, one, at=0.01)
        self.settle()

    def members(self) -> set[int]:
        """Rows in the overlay."""
        rows = np.flatnonzero(self.state.members.root != NEVER)
        return {int(row) for row in rows} - self.dead

    def reached(self, row: int) -> set[int]:
        """Rows of the live network that a row can reach."""
        found, waiting = {row}, [row]
        while waiting:
            for near in map(int, self.network.neighbours(waiting.pop())):
                if near not in found and near not in self.dead:
                    found.add(near)
                    waiting.append(near)
        return found

    def published(self, row: int, event: int) -> tuple[list[int], list[int]]:
        """Publish; (who was told, who should have been), sorted, however often it was told."""
        self.state.seen[:] = -1  # the same event may be told again: as if it were another
        self.post(PUBLISH, row, topic=EVENTS[event][0], event=event)
        commands = self.settle()
        told = sorted(to for kind, to, _ in commands if kind == DELIVERED)
        members = self.members()
        if row not in members:
            assert [kind for kind, _, _ in commands] == [UNMATCHED]
            return told, []
        due = (self.reached(row) & members) - {row}
        return told, sorted(r for r in due if any(wants(s, event) for s in self.wanted[r]))

    def is_a_tree(self) -> bool:
        """Overlay links are mutual, between members, without a circle, one part a component."""
        members = self.members()
        links = {
            (i, int(name)) for i in members for name in self.state.links.node_id[i] if name != NEVER
        }
        mutual = links == {(b, a) for a, b in links} and {b for _, b in links} <= members
        parts = len({frozenset(self.reached(i)) for i in members})
        return mutual and len(links) // 2 == len(members) - parts


def act(history: History, random_state: np.random.Generator, faults: bool) -> list[Any]:
    """One random act, and what went wrong with it: empty if nothing did."""
    alive = sorted(set(range(history.network.n)) - history.dead)
    row = int(random_state.choice(alive))
    what = random_state.random()
    if what < 0.4:
        event = int(random_state.integers(len(EVENTS)))
        told, due = history.published(row, event)
        return [] if told == due else [("publish", row, event, told, due)]
    if what < 0.7:
        s = int(random_state.integers(len(SUBSCRIPTIONS)))
        history.subscribe(row, s, wanted=what < 0.6)
    elif what < 0.85 or not faults or len(alive) <= 2:
        history.join(row)
    elif what < 0.93:
        history.leave(row)
    else:
        history.die(row)
    return [] if history.is_a_tree() else [("no tree", what, row)]


__all__ = [
    "BOOK",
    "CONNECTED",
    "EVENTS",
    "LOST",
    "RULES",
    "SUBSCRIPTIONS",
    "History",
    "act",
    "wants",
]
