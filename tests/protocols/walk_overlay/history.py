"""Random histories of a walk overlay, and the deliveries that they must lead to."""

from typing import Any

import numpy as np

from halfway.core.compiler.lent import Lender
from halfway.core.message import RECORD
from halfway.core.missing import NONE
from halfway.core.neighbourhood import exclude
from halfway.protocols.parts.event_window import empty_windows
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay.handler import Rules
from halfway.protocols.walk_overlay.messages import (
    CHECK_LINKS,
    DELIVERED,
    JOIN,
    LEAVE,
    PUBLISH,
    SUBSCRIBE,
    UNMATCHED,
    UNSUBSCRIBE,
)
from halfway.protocols.walk_overlay.subscription_items import Subscription, catalogue
from halfway.sim.engine import loop
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.neighbour_lists import roomy
from halfway.sim.engine.state import grown, new_engine
from halfway.sim.radio.delays import Ideal
from halfway.world.graphs.network import Network
from tests.protocols.rules_of import printed_rules_of

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
ATTRIBUTES = 2
CATALOGUE = catalogue(SUBSCRIPTIONS, EVENTS, KEY)
RULES = printed_rules_of(
    walk_overlay,
    catalogue=CATALOGUE, pure=False, alpha=1.0, beta=0.0, branches=1, step_pause_s=0.5,
    bid_timeout_s=0.01, settling_time_s=1.0, most_steps=1_000_000, filtered=True, bits=64,
    hashes=3, key=KEY,
)  # fmt: skip
_LONG, _HOP = 1e6, 1e-3


def wants(s: int, event: int) -> bool:
    """Whether a subscription matches an event: the oracle."""
    topic, values = EVENTS[event]
    chosen = SUBSCRIPTIONS[s]
    inside = [
        interval is None or interval[0] <= value < interval[1]
        for interval, value in zip(chosen.intervals, values, strict=True)
    ]
    return topic == chosen.topic and all(inside)


class History:
    """One overlay, the commands of its applications, and what was reported to them."""

    def __init__(
        self, network: Network, seed: int, rules: Rules = RULES, buffered_events: int = 0
    ) -> None:
        self.network, self.rules, self.now, self.lend = network, rules, 0.0, Lender()
        node_ids = np.arange(network.n, dtype=np.int32)
        widest = int(network.degree.max())
        self.state = walk_overlay.state(
            node_ids,
            widest,
            len(SUBSCRIPTIONS),
            len(EVENTS),
            rules.bits // 32,
            seed,
            links=widest,
            branches=2,
            buffered_events=buffered_events,
            attributes=ATTRIBUTES,
        )
        self.spare = widest * walk_overlay.most_emissions(self.state, rules)
        self.engine = new_engine(network.n, 4 * self.spare, 256)
        self.neighbourhood = roomy(network.neighbourhood())  # as nodes know it
        self.reach = network.neighbourhood()
        self.wanted: dict[int, set[int]] = {row: set() for row in range(network.n)}
        self.read = 0  # reports to applications that `settle` has returned
        self.dead: set[int] = set()

    def post(self, kind: int, row: int, topic: int = -1, event: int = -1, at: float = 0.0) -> None:
        """Command a node, now or a little later. The content of an event has the event's number."""
        loop.post(self.engine, self.now + at, row, kind, topic, max(event, 0), event, self.lend)

    def settle(self) -> list[tuple[int, int, int]]:
        """Run until no record is in flight; (kind, row, event) of the reports meanwhile."""
        while True:
            why = loop.run(
                self.state, self.rules, self.neighbourhood, self.engine, Ideal(_HOP), self.reach,
                False, no_changes(), np.inf, loop.UNLIMITED, self.spare, self.lend,
            )  # fmt: skip
            if why == loop.IDLE:
                break
            self.engine = grown(self.engine)
        assert self.engine.out.tally[1] == 0
        self.now += _LONG
        log = self.engine.applications
        new = range(self.read, int(log.tally[0]))
        self.read = int(log.tally[0])
        reports = log.record.view(RECORD)
        return [(int(reports["kind"][a]), int(log.row[a]), int(reports["event"][a])) for a in new]

    def begin(self, first: int, second: int) -> None:
        """Make two nodes the first two initiators."""
        self.post(JOIN, first)
        self.post(JOIN, second, at=0.1)
        self.settle()

    def join(self, row: int) -> None:
        """Make one more node an initiator."""
        self.post(JOIN, row)
        self.settle()

    def subscribe(self, row: int, s: int, add: bool = True) -> None:
        """Add or remove a subscription: the node becomes, or may cease to be, an initiator."""
        self.post(SUBSCRIBE if add else UNSUBSCRIBE, row, topic=s)
        (self.wanted[row].add if add else self.wanted[row].discard)(s)
        self.settle()

    def leave(self, row: int) -> None:
        """Let a node leave the overlay; its subscriptions stay."""
        self.post(LEAVE, row)
        self.settle()

    def die(self, row: int) -> None:
        """Let a node die; its neighbours notice when they check their links."""
        self.dead.add(row)
        self.engine.turns[row] += 1  # odd while down
        for near in map(int, self.network.neighbours(row)):
            exclude(self.neighbourhood, near, row)
            self.post(CHECK_LINKS, near, at=0.01)
        self.settle()

    def sever(self, a: int, b: int) -> None:
        """Remove the link between two nodes, which both notice at their next check."""
        for one, other in ((a, b), (b, a)):
            exclude(self.neighbourhood, one, other)
            self.post(CHECK_LINKS, one, at=0.01)
        self.settle()

    def members(self) -> set[int]:
        """Rows in the overlay."""
        rows = np.flatnonzero(self.state.members.root != NONE)
        return {int(row) for row in rows} - self.dead

    def reached(self, row: int) -> set[int]:
        """Rows that a row can reach over live nodes."""
        found, waiting = {row}, [row]
        while waiting:
            for near in map(int, self.network.neighbours(waiting.pop())):
                if near not in found and near not in self.dead:
                    found.add(near)
                    waiting.append(near)
        return found

    def published(self, row: int, event: int) -> tuple[list[int], list[int]]:
        """Publish; (rows of all deliveries, rows that are due one), both sorted."""
        # The same event may be published again, as if it were new.
        self.state.seen.of[:] = empty_windows(1, 1).of[0, 0]
        outside = row not in self.members()
        self.post(PUBLISH, row, topic=EVENTS[event][0], event=event)
        reports = self.settle()
        delivered = sorted(to for kind, to, _ in reports if kind == DELIVERED)
        members = self.members()
        if outside:  # the publisher joins the overlay, too late for this event
            assert [kind for kind, _, _ in reports].count(UNMATCHED) == 1
            assert row in members
            return delivered, []
        due = (self.reached(row) & members) - {row}
        return delivered, sorted(r for r in due if any(wants(s, event) for s in self.wanted[r]))

    def is_a_tree(self) -> bool:
        """Whether links are mutual, between members, acyclic, one tree in each component."""
        members = self.members()
        links = {
            (i, int(other))
            for i in members
            for other in self.state.links.node_id[i]
            if other != NONE
        }
        mutual = links == {(b, a) for a, b in links} and {b for _, b in links} <= members
        parts = len({frozenset(self.reached(i)) for i in members})
        return mutual and len(links) // 2 == len(members) - parts


def act(history: History, random_state: np.random.Generator, faults: bool) -> list[Any]:
    """One random operation; what it violated, or nothing."""
    alive = sorted(set(range(history.network.n)) - history.dead)
    row = int(random_state.choice(alive))
    what = random_state.random()
    if what < 0.4:
        event = int(random_state.integers(len(EVENTS)))
        delivered, due = history.published(row, event)
        return [] if delivered == due else [("publish", row, event, delivered, due)]
    if what < 0.7:
        s = int(random_state.integers(len(SUBSCRIPTIONS)))
        history.subscribe(row, s, add=what < 0.6)
    elif what < 0.85 or not faults or len(alive) <= 2:
        history.join(row)
    elif what < 0.93:
        history.leave(row)
    else:
        history.die(row)
    return [] if history.is_a_tree() else [("no tree", what, row)]
