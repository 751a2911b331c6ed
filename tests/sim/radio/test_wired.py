"""The wired radio against queues in plain Python, and its errors."""

import heapq
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.core.compiler.lent import Lender
from halfway.problem import Problem
from halfway.sim.engine import loop
from halfway.sim.engine.changes import changes, no_changes
from halfway.sim.engine.state import RecordTraits, grown, new_engine
from halfway.sim.radio.wired import wired
from halfway.world.graphs.network import Network
from halfway.world.outages import LINK_DOWN, LINK_UP, NODE_DOWN, NODE_UP
from tests.networks import from_links, line
from tests.sim.engine import script

Received = tuple[float, int, int, int]  # (time, row, kind, event)
Command = tuple[float, int, int, int]  # (time, row, to or -1, relays)
SIZE = 8 * 112  # bits of a record


def run(network: Network, radio: Any, commands: list[Command], world: Any) -> list[Received]:
    """The records that rows received, in order."""
    engine = new_engine(
        network.n,
        64,
        1,
        received_records=20_000,
        cuts=len(network.who),
        records=RecordTraits(sizes=SIZE // 8),
    )
    lend = Lender()
    for event, (at, row, to, relays) in enumerate(commands):
        loop.post(engine, at, row, script.SEND, to, relays, event, lend)
    neighbourhood, state = (
        network.neighbourhood(),
        script.ScriptState(np.zeros(network.n, np.int64)),
    )
    while True:
        why = loop.run(
            state, script.Rules(0.25), neighbourhood, engine, radio, neighbourhood, False, world,
            np.inf, loop.UNLIMITED, network.n, lend,
        )  # fmt: skip
        if why == loop.IDLE:
            break
        engine = grown(engine)
    assert engine.out.tally[0] == len(engine.out.free)
    assert engine.out.tally[1] == 0
    known = slice(int(engine.received_records.tally[0]))
    at, kind, event = (
        engine.received_records.record[name][known].tolist() for name in ("at", "kind", "event")
    )
    return list(zip(at, engine.received_records.row[known].tolist(), kind, event, strict=True))


def slow(  # noqa: PLR0912, PLR0915 - all of it in one place
    network: Network, delay: Any, rate: Any, limit: float, commands: list[Command], world: list[Any]
) -> tuple[list[Received], list[int]]:
    """The same, with a list of the records in each link."""
    due: list[Any] = []
    number = count()
    inside: dict[int, list[dict[str, Any]]] = {p: [] for p in range(len(network.who))}
    dropped, received = [0] * len(network.who), []
    down, cut, incarnation = set(), set(), [0] * network.n

    def at(time: float, *what: Any) -> None:
        heapq.heappush(due, (time, 0 if what[0] == "world" else 1, next(number), what))

    def send(now: float, row: int, to: int, event: int, relays: int) -> None:
        places = range(network.start[row], network.start[row + 1])
        # The record itself takes the first link, after its copies have taken the others.
        for p in [*places[1:], *places[:1]] if to < 0 else places:
            if to < 0 or network.who[p] == to:
                ends = [x["ends"] for x in inside[p] if not x["lost"]]
                begins = max([now, *ends])
                if begins - now > limit:
                    dropped[p] += 1
                    continue
                record = {"ends": begins + SIZE / rate[p], "lost": False}
                inside[p].append(record)
                at(record["ends"] + delay[p], "over", p, record, row, event, relays)

    for event, (time, row, to, relays) in enumerate(commands):
        at(time, "send", row, to, event, relays, None)
    for time, kind, a, b in world:
        at(time, "world", kind, a, b)
    while due:
        now, _, _, what = heapq.heappop(due)
        if what[0] == "world":
            _, kind, a, b = what
            if kind in (NODE_DOWN, NODE_UP):
                if (kind == NODE_DOWN) == (a in down):
                    continue
                incarnation[a] += 1
                (down.add if kind == NODE_DOWN else down.discard)(a)
            ends = {a, b}
            for p, records in inside.items():
                owner = int(np.searchsorted(network.start, p, "right")) - 1
                mine = {owner, int(network.who[p])} == ends if b >= 0 else owner == a
                if mine and kind in (NODE_DOWN, LINK_DOWN):
                    for record in records:
                        record["lost"] = True
                if mine and b >= 0:
                    (cut.add if kind == LINK_DOWN else cut.discard)(p)
        elif what[0] == "send":
            _, row, to, event, relays, lived = what
            if row not in down and lived in {None, incarnation[row]}:
                received.append((now, row, script.SEND, event))
                send(now, row, to, event, relays)
        else:
            _, p, record, source, event, relays = what
            row = int(network.who[p])
            if record["lost"] or p in cut or row in down:
                continue
            received.append((now, row, script.DATA, event))
            if relays % 2 == 1:
                send(now, row, source, event, relays - 1)
            elif relays > 0:
                at(now + 0.25, "send", row, -1, event, relays - 1, incarnation[row])
    return received, dropped


@given(st.data())
def test_every_link_is_a_queue(data: st.DataObject) -> None:
    n = data.draw(st.integers(2, 6))
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    network = from_links(n, data.draw(st.sets(st.sampled_from(pairs))))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    m = len(network.who)
    delay = rng.choice([0.0, 0.25, 0.3], m)
    rate = rng.choice([SIZE, 3 * SIZE, np.inf], m)
    limit = data.draw(st.sampled_from([0.0, 1.0, np.inf]))
    command = st.tuples(
        st.sampled_from([0.0, 0.25, 0.5, 1.1]), st.integers(0, n - 1), st.integers(-1, n - 1),
        st.integers(0, 4),
    )  # fmt: skip
    commands = [
        (at, row, -1 if row == to else to, relays)
        for at, row, to, relays in data.draw(st.lists(command, max_size=10))
    ]
    kinds = st.sampled_from([NODE_DOWN, NODE_UP, LINK_DOWN, LINK_UP])
    change = st.tuples(st.sampled_from([0.25, 0.6, 1.1, 2.0]), kinds, st.sampled_from(pairs))
    world = [
        (at, kind, a, b if kind in (LINK_DOWN, LINK_UP) else -1)
        for at, kind, (a, b) in sorted(data.draw(st.lists(change, max_size=4)))
    ]
    radio = wired(network, delay, rate, limit)
    happens = changes(*zip(*world, strict=True)) if world else no_changes()
    received, dropped = slow(network, delay, rate, limit, commands, world)
    assert run(network, radio, commands, happens) == received
    assert list(radio.dropped) == dropped


def test_a_burst_leaves_one_by_one() -> None:
    radio = wired(line(2), 0.5, SIZE / 0.125)
    received = run(line(2), radio, [(0.0, 0, 1, 0)] * 3, no_changes())
    assert [at for at, *_, kind, _ in received if kind == script.DATA] == [0.625, 0.75, 0.875]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((-1.0,), "radio.delay_s = -1"),
        ((np.inf,), "radio.delay_s = inf"),
        (([0.1, 0.2, 0.3],), "3 values: expected one value"),
        ((0.1, 0.0), "radio.bandwidth = 0.0"),
        ((0.1, np.nan), "radio.bandwidth = nan"),
        ((0.1, 1e6, -1.0), "radio.limit_s = -1.0"),
    ],
)
def test_impossible_links_are_refused(given: tuple[Any, ...], message: str) -> None:
    with pytest.raises(Problem, match=message):
        wired(line(2), *given)
