"""The engine against a slow one: delays by link, losses, nodes that are down, a pool that grows."""

import heapq
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.core.compiler.lent import Lender
from halfway.core.message import APP, EVERYONE
from halfway.core.outbox import emit
from halfway.problem import Problem
from halfway.protocols import flooding
from halfway.protocols.parts import application
from halfway.sim.engine import loop
from halfway.sim.engine.calendar_queue.operations import peek, pop
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.state import RECEIVED, SENT, Engine, grown, new_engine
from halfway.sim.radio.delays import Distances, Ideal, Lossy, distances, lossy
from halfway.world.graphs.network import Network
from tests.interpreted import uncompiled
from tests.networks import disk, from_links, line
from tests.protocols.slow_world import RandomState

WAIT = 0.25
Received = tuple[float, int, int, int]  # (time, row, event, kind)


def flood(
    network: Network,
    radio: Any,
    events: int,
    down: set[int],
    slots: int,
    received_records: int = 20_000,
) -> Engine:
    """Flood events from rows 0, 1, … at times 0, 1, …; a small pool grows when it is full."""
    state = flooding.state(np.arange(network.n, dtype=np.int32), events, 1)
    free_slots = 3 * max(int(network.degree.max(initial=0)), 1)
    engine = new_engine(network.n, max(slots, events + 1), 64, received_records=received_records)
    engine.turns[list(down)] = 1
    lend = Lender()
    for event in range(events):
        loop.post(engine, float(event), event % network.n, application.PUBLISH, 0, 0, event, lend)
    neighbourhood = network.neighbourhood()
    while True:
        why = loop.run(
            state, flooding.Rules(WAIT), neighbourhood, engine, radio, neighbourhood,
            False, no_changes(), np.inf, loop.UNLIMITED, free_slots, lend,
        )  # fmt: skip
        if why == loop.IDLE:
            return engine
        assert why == loop.POOL_FULL
        engine = grown(engine)


def slow_flood(
    network: Network, delay: Any, success: Any, seed: int, events: int, down: set[int]
) -> tuple[list[Received], dict[int, int]]:
    """The same with one queue entry a reception, and how often each row transmitted."""
    random_state, sent = RandomState(seed, 0x1055), dict.fromkeys(range(network.n), 0)
    received: list[Received] = []
    seen: set[tuple[int, int]] = set()
    due: list[tuple[float, int, int, int, int, int]] = []
    for event in range(events):
        due.append((float(event), event, event % network.n, event, application.PUBLISH, -1))
    order = events
    while due:
        at, _, i, event, kind, place = heapq.heappop(due)
        if i in down or (
            place >= 0 and success is not None and random_state.real() >= success[place]
        ):
            continue
        received.append((at, i, event, kind))
        if kind == flooding.REPEAT:
            sent[i] += 1
            for place in range(network.start[i], network.start[i + 1]):
                hop_s = float(delay[place])
                entry = (at + hop_s, order, int(network.who[place]), event, flooding.FLOOD, place)
                heapq.heappush(due, entry)
                order += 1
        elif (i, event) not in seen:
            seen.add((i, event))
            heapq.heappush(due, (at + WAIT, order, i, event, flooding.REPEAT, -1))
            order += 1
    return received, sent


def received_records(engine: Engine) -> list[Received]:
    """The records that rows received, in order."""
    count = int(engine.received_records.tally[0])
    record, rows = engine.received_records.record[:count], engine.received_records.row[:count]
    return [
        (float(m["at"]), int(row), int(m["event"]), int(m["kind"]))
        for m, row in zip(record, rows, strict=True)
    ]


@settings(max_examples=40)
@given(st.data(), st.sampled_from(["ideal", "distances", "lossy", "lossy distances"]))
def test_any_radio_delivers_as_one_entry_for_each_reception_would(
    data: st.DataObject, kind: str
) -> None:
    network = disk(n=data.draw(st.integers(5, 30)), radius=0.5, seed=data.draw(st.integers(0, 3)))
    links, seed = len(network.who), data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    # Few different delays: ties between links, and between transmissions, are common.
    delay = np.full(links, 0.5, np.float32)
    radio: Ideal | Distances | Lossy = Ideal(0.5)
    if "distances" in kind:
        delay = rng.choice([0.0, 0.25, 0.5, 0.625], links).astype(np.float32)
        radio = distances(network, delay)
    success = None
    if "lossy" in kind:
        success = rng.choice([0.0, 0.3, 0.9, 1.0], links).astype(np.float32)
        radio = lossy(radio, success, network, seed)
    down = set(data.draw(st.lists(st.integers(0, network.n - 1), max_size=3)))
    engine = flood(network, radio, 3, down, slots=data.draw(st.sampled_from([4, 4096])))
    received, sent = slow_flood(network, delay, success, seed, 3, down)
    assert received_records(engine) == received
    assert list(engine.counters.traffic[:, SENT]) == list(sent.values())
    over_air = [row for _, row, _, kind in received if kind == flooding.FLOOD]
    assert list(engine.counters.traffic[:, RECEIVED]) == list(
        np.bincount(over_air, minlength=network.n)
    )
    assert engine.counters.sent_kind[flooding.FLOOD] == sum(sent.values())
    assert engine.counters.received_kind[flooding.FLOOD] == len(over_air)
    assert engine.counters.handled[0] == len(received)


def test_a_line_with_losses_delivers_as_theory_says() -> None:
    """Success p on each of n hops: an event crosses the line with probability p^n."""
    network, p, events = line(6), 0.8, 4000
    radio = lossy(Ideal(0.01), p, network, seed=5)
    state = flooding.state(np.arange(6, dtype=np.int32), 1, 1)
    engine, neighbourhood = new_engine(6, 3 * events, 16), network.neighbourhood()
    lend = Lender()
    for event in range(events):
        loop.post(engine, float(event), 0, application.PUBLISH, 0, 0, event, lend)
    loop.run(
        state, flooding.Rules(WAIT), neighbourhood, engine, radio, neighbourhood, False,
        no_changes(), np.inf, loop.UNLIMITED, 8,
    )  # fmt: skip
    crossed = int(engine.counters.traffic[5, RECEIVED])
    expected, sigma = events * p**5, np.sqrt(events * p**5 * (1 - p**5))
    assert abs(crossed - expected) < 3 * sigma


def test_a_node_that_is_down_neither_sends_nor_receives_nor_starts() -> None:
    engine = flood(line(5), Ideal(0.5), 1, {2}, slots=64)
    assert {row for _, row, _, _ in received_records(engine)} == {0, 1}
    assert list(engine.counters.traffic[:, SENT]) == [1, 1, 0, 0, 0]


def test_a_run_until_a_time_can_be_continued() -> None:
    network = disk(n=40, radius=0.3, seed=1)
    whole = received_records(flood(network, Ideal(0.5), 2, set(), slots=4096))
    state = flooding.state(np.arange(network.n, dtype=np.int32), 2, 1)
    engine, neighbourhood = (
        new_engine(network.n, 4096, 64, received_records=20_000),
        network.neighbourhood(),
    )
    for event in range(2):
        loop.post(engine, float(event), event, application.PUBLISH, 0, 0, event)
    for until in (0, 0.6, 1.3, 2.0, np.inf):
        why = loop.run(
            state, flooding.Rules(WAIT), neighbourhood, engine, Ideal(0.5), neighbourhood,
            False, no_changes(), until, loop.UNLIMITED, 200,
        )  # fmt: skip
        assert why == (loop.IDLE if until == np.inf else loop.UNTIL)
        assert all(at <= until for at, *_ in received_records(engine))
    assert received_records(engine) == whole
    compiled: Any = loop._run
    assert {str(types[7:]) for types in compiled.signatures} == {"(float64, int64, int64)"}


@pytest.mark.parametrize("losses", [False, True])
def test_receivers_by_one_call_are_as_receivers_one_by_one(losses: bool) -> None:
    """Without a log of these records, all receivers of a broadcast enter the door by one call."""
    network = disk(60, 0.3, seed=5)
    runs = []
    for received_records in (0, 20_000):
        radio: Any = lossy(Ideal(0.5), 0.7, network, seed=3) if losses else Ideal(0.5)
        engine = flood(network, radio, 5, {7}, 64, received_records)
        random_state = radio.random_state.tobytes() if losses else b""
        flown = (*engine.out, *engine.flight, *engine.counters, engine.queue.tally)
        runs.append((random_state, [array.tobytes() for array in flown]))
    assert runs[0] == runs[1]
    assert engine.counters.received_kind[flooding.FLOOD] > 500


def test_a_grown_engine_continues() -> None:
    engine = new_engine(3, 4, 8)
    for event in range(3):
        loop.post(engine, 1.0 + event, event, application.PUBLISH, 0, 0, event)
    larger = grown(engine)
    assert list(larger.out.tally) == [5, 0]
    assert sorted(larger.out.free[:5]) == [3, 4, 5, 6, 7]
    for event in range(3):
        at, slot = uncompiled(peek)(larger.queue)
        assert at == 1.0 + event
        assert larger.out.pool["event"][slot] == event
        uncompiled(pop)(larger.queue, slot)
    for to in (APP, EVERYONE):
        uncompiled(emit)(larger.out, 1, 0.0, to)
    assert list(larger.out.pool["event"][:3]) == [0, 1, 2]


def test_radios_refuse_impossible_delays_and_probabilities() -> None:
    network = from_links(3, [(0, 1), (1, 2)])
    for delay in ([0.1], [-1.0] * 4, [np.nan] * 4, [np.inf] * 4):
        with pytest.raises(Problem, match=r"delay: expected one finite time .* 4 directed links"):
            distances(network, delay)
    for share in (1.5, -0.1, np.nan):
        with pytest.raises(Problem, match="probability"):
            lossy(Ideal(0.1), share, network, seed=1)
