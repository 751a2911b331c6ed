"""The CSMA radio against its slow twin, which derives receptions from the history."""

from typing import Any

import numpy as np
from hypothesis import example, given, settings
from hypothesis import strategies as st

from halfway.core.compiler.lent import Lender
from halfway.core.neighbourhood import Neighbourhood
from halfway.sim.engine import loop
from halfway.sim.engine.changes import LINK_GONE, LINK_NEAR, Changes, changes, no_changes
from halfway.sim.engine.neighbour_lists import roomy
from halfway.sim.engine.state import Engine, RecordTraits, grown, new_engine
from halfway.sim.radio.csma import SENSORS, WIFI_A, WIFI_B, Csma, Timing, csma
from halfway.world.outages import LINK_DOWN, LINK_UP, NODE_DOWN, NODE_UP
from tests.networks import from_links
from tests.sim.engine import script
from tests.sim.radio.slow_csma import RECORD_BYTES, Frame, SlowCsma

Command = tuple[float, int, int, int]  # (time, row, to or -1, relays)


def run(
    radio: Csma, reach: Neighbourhood, commands: list[Command], *, wait: float = 0.0,
    world: Changes | None = None, slots: int = 4096, received_records: int = 0, cuts: int = 0,
    until: float = np.inf,
) -> Engine:  # fmt: skip
    """Run the commands; event k is command k."""
    n = len(reach.first)
    engine = new_engine(
        n,
        max(slots, len(commands) + 1),
        1,
        received_records,
        cuts=cuts,
        records=RecordTraits(sizes=RECORD_BYTES),
    )
    lend = Lender()
    for event, (at, row, to, relays) in enumerate(commands):
        loop.post(engine, at, row, script.SEND, to, relays, event, lend)
    world = no_changes() if world is None else world
    state = script.ScriptState(np.zeros(n, np.int64))
    while True:
        why = loop.run(
            state, script.Rules(wait), reach, engine, radio, reach, False, world, until,
            loop.UNLIMITED, n, lend,
        )  # fmt: skip
        if why in (loop.IDLE, loop.UNTIL):
            return engine
        assert why == loop.POOL_FULL
        engine = grown(engine)


def received(engine: Engine) -> list[tuple[float, int, int, int, int]]:
    """The records that rows received, by time and row."""
    count = int(engine.received_records.tally[0])
    records = [
        (float(m["at"]), int(row), int(m["kind"]), int(m["event"]), int(m["source"]))
        for m, row in zip(
            engine.received_records.record[:count], engine.received_records.row[:count], strict=True
        )
    ]
    return sorted(records)


# Slots, frames and pauses are powers of two, so that all coincidences occur.
COARSE = Timing(896.0, 0.125, 0.125, 0.25, 0.0, 3, 7, 2, 0.0, 14.0, 4)
TIMINGS = [
    COARSE,
    COARSE._replace(sense_s=0.0625, cw_min=0, cw_max=1),
    # Pauses longer than frames, and long acknowledgements: many changes fall into each.
    COARSE._replace(sifs_s=2.0, difs_s=2.25, ack_bytes=224.0),
    WIFI_B._replace(cw_min=3, retries=1, queue_limit=2),
    WIFI_A._replace(cw_min=1, cw_max=7),
    SENSORS._replace(retries=0, queue_limit=1),
]


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    """A few nodes and links, commands, and outages."""
    n = draw(st.integers(2, 7))
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    timing = draw(st.sampled_from(TIMINGS))
    # One frame lasts about this long.
    frame = (timing.header_bytes + RECORD_BYTES) * 8 / timing.bit_rate
    ticks = st.integers(0, 40)
    publish = st.tuples(ticks, st.integers(0, n - 1), st.integers(-1, n - 1), st.integers(0, 4))
    commands = [
        (tick * frame / 8, row, -1 if to == row else to, relays)
        for tick, row, to, relays in draw(st.lists(publish, min_size=1, max_size=12))
    ]
    # The time and the length of an outage of a node or a link.
    outage = st.tuples(ticks, st.integers(1, 9), st.booleans(), st.sampled_from(pairs))
    return {
        "n": n, "timing": timing, "commands": commands, "frame": frame,
        "links": set(draw(st.lists(st.sampled_from(pairs), max_size=len(pairs)))),
        "outages": draw(st.lists(outage, max_size=6)), "moving": draw(st.booleans()),
        "seed": draw(st.integers(0, 2**32)), "wait": draw(st.sampled_from([0.0, frame / 8])),
    }  # fmt: skip


def changes_of(world: dict[str, Any]) -> list[tuple[float, int, int, int]]:
    """(time, kind, a, b), at most one at a time; some at the times of commands."""
    gone, near = (LINK_GONE, LINK_NEAR) if world["moving"] else (LINK_DOWN, LINK_UP)
    found = {}
    for tick, ticks, is_link, (a, b) in world["outages"]:
        kinds = (NODE_DOWN, NODE_UP)
        if is_link:
            kinds = (gone, near) if (a, b) in world["links"] else (near, gone)
        for at, kind in zip((tick, tick + ticks), kinds, strict=True):
            found[at * world["frame"] / 6] = (kind, a, b if is_link else -1)
    return [(at, *what) for at, what in sorted(found.items())]


def slow(world: dict[str, Any]) -> SlowCsma:
    """The same in the slow medium."""
    medium = SlowCsma(world["n"], world["links"], world["timing"], world["seed"], world["wait"])
    for event, (at, row, to, relays) in enumerate(world["commands"]):
        medium.at(at, 1, medium.publish, Frame(row, to, event, relays), -1)
    for at, kind, a, b in changes_of(world):
        if kind in (NODE_DOWN, NODE_UP):
            medium.at(at, 0, medium.node, a, kind == NODE_UP)
        elif kind in (LINK_NEAR, LINK_GONE) or (a, b) in world["links"]:
            medium.at(at, 0, medium.link, a, b, kind in (LINK_NEAR, LINK_UP))
    medium.run()
    return medium


def with_pauses(n: int, commands: list[Command], outages: list[Any]) -> dict[str, Any]:
    """A line of nodes with long pauses and acknowledgements: cases rarely drawn."""
    return {
        "n": n, "timing": TIMINGS[2], "commands": commands, "frame": 1.0, "moving": False,
        "links": {(i, i + 1) for i in range(n - 1)}, "outages": outages, "seed": 1, "wait": 0.0,
    }  # fmt: skip


RECEIVER_GOES = with_pauses(2, [(0.0, 0, 1, 0)], [(27, 9, False, (1, 0))])
SENDER_COMES_BACK = with_pauses(2, [(0.0, 0, 1, 0), (4.6, 0, 1, 0)], [(24, 3, False, (0, 1))])
RECEIVER_BLINKS = with_pauses(2, [(0.0, 0, -1, 0)], [(16, 2, False, (1, 0))])
TWO_ANSWERS_DUE = with_pauses(3, [(0.0, 0, 1, 0), (1.25, 2, 1, 0)], [])


@settings(max_examples=80)
@given(worlds())
@example(RECEIVER_GOES)
@example(SENDER_COMES_BACK)
@example(RECEIVER_BLINKS)
@example(TWO_ANSWERS_DUE)
def test_the_medium_agrees_with_its_slow_twin(world: dict[str, Any]) -> None:
    n, what = world["n"], changes_of(world)
    network = from_links(n, world["links"])
    reach = network.neighbourhood()
    if world["moving"]:
        reach = roomy(reach)
    radio = csma(n, world["seed"], world["timing"])
    engine = run(
        radio, reach, world["commands"], wait=world["wait"], received_records=20_000, slots=4,
        world=changes(*zip(*what, strict=True)) if what else no_changes(),
        cuts=0 if world["moving"] else len(network.who),
    )  # fmt: skip
    medium = slow(world)
    assert received(engine) == sorted(medium.received)
    names = {"corrupted": "corrupted_receptions"}
    for name in ("frames", "acks", "corrupted", "queue full", "unacknowledged", "lost in crashes"):
        counted = list(radio.station[names.get(name, name.replace(" ", "_"))])
        assert (name, counted) == (name, [medium.tally[name, i] for i in range(n)])
    assert int(engine.out.tally[0]) == len(engine.out.free), "a slot is lost"
    for field, idle in (("busy", 0), ("length", 0), ("head", -1), ("on_air", -1), ("hearing", -1)):
        assert (radio.station[field] == idle).all(), field
