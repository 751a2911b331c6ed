"""Changes of the world during a run: the engine against its slow twin."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.message import EVERYONE
from halfway.protocols import flooding
from halfway.protocols.parts import application
from halfway.sim.engine.state import RECEIVED, SENT
from halfway.sim.radio.delays import Ideal, distances, lossy
from halfway.world.graphs.network import Network
from tests.protocols.received import received
from tests.protocols.slow_world import RandomState
from tests.sim.engine import toy
from tests.sim.engine.slow_engine import Emission, Record, SlowEngine, SlowRadio
from tests.sim.environment.changing import Pieces, Result, World, pieces, run, worlds

LOSSES = 0x1055  # the radio's random stream
DELAYS = [0.0, 0.25, 0.5, 0.1, 2.0]


def script(n: int, seed: int) -> toy.Script:
    """A random script. A call may address a missing node, or the caller."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 7)), toy.MOST_EMISSIONS
    shares = (0.1, 0.25, 0.3, 0.15, 0.1, 0.1)  # NOTHING, TIMER, SHOUT, WHISPER, CALL, REPORT
    return toy.Script(
        rng.choice(6, size, p=shares),
        rng.choice([0.0, *DELAYS], size),
        rng.integers(0, n + 1, size),
    )


def links_of(network: Network) -> list[tuple[int, int]]:
    """Directed links by place."""
    a = np.repeat(np.arange(network.n), network.degree)
    return list(zip(a.tolist(), network.who.tolist(), strict=True))


@st.composite
def radios(draw: st.DrawFn, network: Network, kind: str) -> tuple[Any, SlowRadio]:
    """A radio, and the same for the slow engine."""
    links, seed = links_of(network), draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    fast: Any = Ideal(draw(st.sampled_from(DELAYS)))
    slow = SlowRadio(fast.delay)
    if "distances" in kind:
        delay = rng.choice(DELAYS, len(links)).astype(np.float32)
        fast = distances(network, delay)
        slow = SlowRadio(dict(zip(links, delay.tolist(), strict=True)))
    if "lossy" in kind:
        slow.random_state = RandomState(seed, LOSSES)
        if "one" in kind:
            slow.success = float(np.float32(draw(st.sampled_from([0.0, 0.7, 1.0]))))
            fast = lossy(fast, slow.success, None, seed)
        else:
            share = rng.choice([0.0, 0.6, 1.0, 1.0], len(links)).astype(np.float32)
            slow.success = dict(zip(links, share.tolist(), strict=True))
            fast = lossy(fast, share, network, seed)
    return fast, slow


def same(fast: Result, slow: SlowEngine, cuts: Pieces) -> None:
    """Compare all results of two runs."""
    assert fast.received_records == slow.received_records
    assert fast.reports == slow.reports
    assert (fast.reach, fast.knows) == (slow.reach, slow.knows)
    assert {
        row for row, incarnation in enumerate(fast.engine.turns) if incarnation % 2 == 0
    } == slow.up
    counters, size = fast.engine.counters, np.broadcast_to(cuts.sizes, 256)
    for way, counted, by_kind in (
        (SENT, slow.sent, counters.sent_kind), (RECEIVED, slow.received, counters.received_kind),
    ):  # fmt: skip
        traffic, volume, kinds = np.zeros(slow.n), np.zeros(slow.n), np.zeros(256)
        for (row, kind), count in counted.items():
            traffic[row] += count
            volume[row] += count * size[kind]
            kinds[kind] += count
        assert np.array_equal(counters.traffic[:, way], traffic)
        assert np.array_equal(by_kind, kinds)
        if np.ndim(cuts.sizes):
            assert np.array_equal(counters.volume[:, way], volume)
    assert counters.handled[0] == len(slow.received_records) + len(slow.reports)
    for until, length in fast.stops:
        assert length == sum(one.at <= until for one in slow.received_records)
    for asked, delivered in fast.counts:
        assert asked <= delivered < asked + slow.n


def toys_agree(data: st.DataObject, world: World, kind: str) -> None:
    """Run the scripted toy on both engines."""
    network = world.network
    lines = script(network.n, data.draw(st.integers(0, 2**32)))
    rules = toy.ToyRules(data.draw(st.sampled_from([3, 12])), lines)
    radio, slow_radio = data.draw(radios(network, kind))
    cuts = data.draw(pieces())
    state = toy.ToyState(np.arange(network.n, dtype=np.int32), np.zeros(network.n, np.int64))
    protocol = state, rules
    fast = run(protocol, toy.START, radio, world, cuts, toy.MOST_EMISSIONS)
    slow = slow_twin(world, toy.slow_handler(rules), slow_radio, toy.START)
    same(fast, slow, cuts)


def floods_agree(data: st.DataObject, world: World, kind: str) -> None:
    """Run flooding on both engines; no two publishers have an event of the same number."""
    commands = [(at, row, 3 * row + event) for at, row, event in world.commands]
    world = replace(world, commands=commands)
    radio, slow_radio = data.draw(radios(world.network, kind))
    cuts, seen = data.draw(pieces()), set()

    def follow(row: int, record: Record, near: list[int]) -> list[Emission]:
        del near
        event = record.event
        if record.kind == flooding.REPEAT:
            return [Emission(0.0, flooding.FLOOD, int(EVERYONE), event, 0)]
        if record.kind not in (application.PUBLISH, flooding.FLOOD) or (row, event) in seen:
            return []
        seen.add((row, event))
        return [Emission(0.25, flooding.REPEAT, row, event, 0)]

    n = world.network.n
    state = flooding.state(np.arange(n, dtype=np.int32), n, 1)
    protocol = state, flooding.Rules(0.25)
    fast = run(protocol, application.PUBLISH, radio, world, cuts, 2)
    same(fast, slow_twin(world, follow, slow_radio, application.PUBLISH), cuts)
    assert received(state.seen) == seen


def slow_twin(world: World, handler: Any, radio: SlowRadio, kind: int) -> SlowEngine:
    """The slow engine's run of a world."""
    reach, knows = ([set(map(int, world.network.neighbours(i))) for i in range(world.network.n)]
                    for _ in range(2))  # fmt: skip
    slow = SlowEngine(reach, reach if world.shared else knows, handler, radio, world.starts)
    for at, row, event in world.commands:
        slow.post(at, row, kind, event)
    return slow.run(world.changes)


@settings(max_examples=200)
@given(st.data(), worlds(), st.sampled_from(["ideal", "lossy distances"]))
@pytest.mark.long
def test_nodes_and_static_links_go_down_and_come_up_as_in_the_slow_engine(
    data: st.DataObject, world: World, kind: str
) -> None:
    toys_agree(data, world, kind)


@settings(max_examples=200)
@given(st.data(), worlds(moves=True), st.sampled_from(["ideal", "lossy one"]))
@pytest.mark.long
def test_links_come_and_go_as_in_the_slow_engine(
    data: st.DataObject, world: World, kind: str
) -> None:
    toys_agree(data, world, kind)


@settings(max_examples=100)
@given(st.data(), worlds(), st.sampled_from(["ideal", "distances"]))
def test_flooding_under_faults_is_as_in_the_slow_engine(
    data: st.DataObject, world: World, kind: str
) -> None:
    floods_agree(data, world, kind)


@settings(max_examples=50)
@given(st.data(), worlds(moves=True))
def test_flooding_of_moving_nodes_is_as_in_the_slow_engine(
    data: st.DataObject, world: World
) -> None:
    floods_agree(data, world, "ideal")
