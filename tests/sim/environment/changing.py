"""Worlds that change during a run: drawn at random, run by the engine in pieces, and recorded."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from hypothesis import strategies as st

from halfway.core.compiler.lent import Lender
from halfway.core.message import APP
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.records.wire import fixed_sizes
from halfway.sim.engine import changes, loop
from halfway.sim.engine.neighbour_lists import roomy
from halfway.sim.engine.state import Engine, RecordTraits, drain, grown, new_engine
from halfway.world.graphs.network import Network
from halfway.world.outages import LINK_DOWN, LINK_UP, NODE_DOWN, NODE_UP
from tests.protocols.worlds import networks
from tests.sim.engine.slow_engine import Change, Links, Record, Seen

NODES = (NODE_DOWN, NODE_UP)
CUTS = (LINK_DOWN, LINK_UP)
REACH = (changes.LINK_GONE, changes.LINK_NEAR)
KNOWLEDGE = (changes.FORGOTTEN, changes.KNOWN)


@dataclass(frozen=True)
class World:
    """A network, its changes, and the commands of applications (at, row, event)."""

    network: Network
    commands: list[tuple[float, int, int]]
    changes: list[Change]
    moves: bool = False
    starts: bool = False
    shared: bool = True  # nodes know exactly the nodes in reach


@dataclass(frozen=True)
class Pieces:
    """How a run is interrupted: small logs and pools, stops at times and record counts."""

    untils: list[float] = field(default_factory=list)  # seconds, ascending
    records: int = loop.UNLIMITED  # further records at each call
    applications: int = 4096
    received_records: int = 1 << 15  # room beyond what one transmission may need
    slots: int = 4096
    sizes: Any = 100  # one of all records, or [256] by kind


@dataclass
class Result:
    """The result of a run."""

    engine: Engine
    reach: Links
    knows: Links
    received_records: list[Seen] = field(default_factory=list)
    reports: list[Seen] = field(default_factory=list)
    stops: list[tuple[float, int]] = field(default_factory=list)  # (until, records received)
    counts: list[tuple[int, int]] = field(default_factory=list)  # (limit, delivered)


@st.composite
def worlds(draw: st.DrawFn, moves: bool = False) -> World:
    """A few nodes, a few seconds; all times are quarters, so that ties are frequent."""
    network = draw(networks(connected=draw(st.booleans()), most=7))
    quarters = st.integers(0, 16).map(lambda k: k / 4)
    row = st.integers(0, network.n - 1)
    commands = draw(st.lists(st.tuples(quarters, row, st.integers(0, 2)), min_size=1, max_size=5))
    shared = draw(st.booleans())
    # A static network must keep its places, because its radio uses them.
    links = REACH + KNOWLEDGE if moves else CUTS if shared else CUTS + KNOWLEDGE
    pairs = st.tuples(row, row).filter(lambda pair: pair[0] != pair[1])
    if network.links:
        a = np.repeat(np.arange(network.n), network.degree)
        there = st.sampled_from(list(zip(a.tolist(), network.who.tolist(), strict=True)))
        pairs = st.one_of(there, there, pairs)
    change = st.one_of(
        st.builds(Change, quarters, st.sampled_from(NODES), row, st.just(-1)),
        st.builds(
            lambda t, kind, pair: Change(t, kind, *pair), quarters, st.sampled_from(links), pairs
        ),
    )
    changes = sorted(
        draw(st.lists(change, min_size=draw(st.sampled_from([0, 6])), max_size=14)),
        key=lambda change: change.t,
    )
    return World(network, commands, changes, moves, draw(st.booleans()), shared)


def pieces() -> st.SearchStrategy[Pieces]:
    """All reasons for which a run may stop."""
    return st.builds(
        Pieces,
        untils=st.lists(st.integers(0, 48).map(lambda k: k / 8), max_size=6).map(sorted),
        records=st.sampled_from([loop.UNLIMITED, 1, 3]),
        applications=st.sampled_from([1, 3, 4096]),
        received_records=st.sampled_from([0, 5, 4096]),
        slots=st.sampled_from([0, 4096]),
        sizes=st.sampled_from([100, np.arange(256)]),
    )


def links_of(lists: Neighbourhood) -> Links:
    """Neighbour lists as sets; the lists must be in ascending order."""
    rows = [lists.who[a:b].tolist() for a, b in zip(lists.first, lists.last, strict=True)]
    assert all(row == sorted(set(row)) for row in rows)
    return [set(row) for row in rows]


def tight(lists: Neighbourhood) -> Neighbourhood:
    """A copy of the lists, without free places."""
    who = lists.who.copy()
    return Neighbourhood(lists.first.copy(), lists.last.copy(), who, who, lists.x, lists.y)


def changes_of(world: World) -> changes.Changes:
    """The changes of a world for the engine."""
    columns = zip(*world.changes, strict=True) if world.changes else ([],) * 4
    return changes.changes(*columns)


def engine_of(world: World, given: Pieces, kind: int, free_slots: int) -> Engine:
    """An engine with the commands of applications in its queue."""
    engine = new_engine(
        world.network.n, len(world.commands) + given.slots, given.applications,
        free_slots + given.received_records, cuts=0 if world.moves else len(world.network.who),
        records=RecordTraits(sizes=fixed_sizes(given.sizes)),
    )  # fmt: skip
    lend = Lender()
    for at, row, event in world.commands:
        loop.post(engine, at, row, kind, 0, 0, event, lend)
    return engine


def run(
    protocol: tuple[Any, Any], kind: int, radio: Any, world: World, given: Pieces, most: int
) -> Result:
    """Run a protocol (state, rules) until nothing is left, and continue after every stop.

    kind: of the commands. most: emissions of one call of the handler.
    """
    state, rules = protocol
    free_slots = max(world.network.n * most, 1)
    engine = engine_of(world, given, kind, free_slots)
    reach = tight(world.network.neighbourhood())
    neighbourhood = reach if world.shared else tight(reach)
    changes, result = changes_of(world), Result(engine, [], [])
    untils, records, lend = [*given.untils, np.inf], given.records, Lender()
    while untils:
        why = loop.run(
            state, rules, neighbourhood, engine, radio, reach, world.starts, changes, untils[0],
            records, free_slots, lend,
        )  # fmt: skip
        if why in (loop.IDLE, loop.UNTIL):
            _empty(engine, result)
            result.stops.append((untils.pop(0), len(result.received_records)))
        elif why == loop.COUNTED:
            result.counts.append((records, int(engine.counters.handled[0])))
            records = int(engine.counters.handled[0]) + given.records
        elif why == loop.LOG_FULL:
            _empty(engine, result)
        elif why == loop.LISTS_FULL:
            assert world.moves or not world.shared
            reach = roomy(reach) if world.moves else reach
            neighbourhood = reach if world.shared else roomy(neighbourhood)
        else:
            assert why == loop.POOL_FULL
            engine = grown(engine)
    assert why == loop.IDLE
    assert list(engine.out.tally) == [len(engine.out.free), 0], "a slot was lost"
    result.engine, result.reach, result.knows = engine, links_of(reach), links_of(neighbourhood)
    return result


def _empty(engine: Engine, result: Result) -> None:
    for kept, log in (
        (result.received_records, engine.received_records),
        (result.reports, engine.applications),
    ):
        for m, row in zip(*drain(log), strict=True):
            numbers = (m["kind"], m["next"], m["event"], m["args"][0], m["source"], m["hops"])
            kept.append(Seen(float(m["at"]), int(row), Record(*map(int, numbers))))


def on_air(seen: list[Seen]) -> list[Seen]:
    """Records that came from another node."""
    return [one for one in seen if one.record.to not in (APP, one.record.source)]
