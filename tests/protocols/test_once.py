"""One handler: a lone node with a one-row state emits the same bytes as its row in the simulator.

georendezvous and the broker trees have the same tests in their own folders.
"""

import importlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from halfway.adapters.interface import UnsizedAdapter
from halfway.adapters.registry import TABLE
from halfway.core.kinds import Channel
from halfway.core.message import RECORD, START
from halfway.protocols import SYSTEMS as PROTOCOLS
from halfway.protocols import flooding
from halfway.protocols.drip import handler as drip
from halfway.protocols.drip import messages as drip_kinds
from halfway.protocols.parts.application import PUBLISH
from halfway.protocols.parts.reliable_hop import ACK, ACK_TIMEOUT
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay import messages as overlay_messages
from halfway.protocols.walk_overlay import subscription_items
from halfway.protocols.walks import directional_walk, messages, random_walk
from halfway.world.workload.pairs import distinct_pairs
from tests.interpreted import uncompiled
from tests.protocols.fields import undeclared
from tests.protocols.lone import Command, Driven, World, drive, emitted_by, entered, faults
from tests.protocols.rules_of import printed_rules_of, rules_of
from tests.protocols.watched import arrays
from tests.protocols.worlds import EVENTS, TOPICS, simple_world
from tests.protocols.worlds import SMALL as _NETWORK

_SOME = (0, 7, 12, 29)


def _walks(protocol: Any) -> World:
    """Three topics whose walks meet, and an event on each path."""
    pairs = distinct_pairs(_NETWORK.n, 3, 2)
    roles = (messages.ADVERTISE, messages.SUBSCRIBE)
    commands = [Command(0.5 * w, int(pairs[t, w]), roles[w], t) for t in range(3) for w in (0, 1)]
    # A second subscriber and a second publisher, whose walks meet other walks.
    commands += [
        Command(0.25 + w, int(pairs[1, w]), roles[1 - w], 0) for w in (0, 1)
    ]  # fmt: skip
    commands += [Command(60.0, int(pairs[1, 0]), messages.UNSUBSCRIBE, 0)]
    commands += [Command(1e6, int(pairs[t, 0]), messages.PUBLISH, t, t) for t in range(3)]
    commands += [Command(1e6 + 1, int(pairs[2, 0]), messages.WITHDRAW, 2)]
    widest = int(_NETWORK.degree.max())
    rules = printed_rules_of(
        messages, step_delay_s=(1.0, 0.5), advertise=True, most_steps=10_000, search_steps=60,
        search_delay_s=9.0,
    )  # fmt: skip
    return World(
        _NETWORK, protocol,
        lambda n: protocol.state(n, widest, 3, 9, members=4, buffer_size=8), rules, commands,
    )  # fmt: skip


def _reliable_walks(protocol: Any) -> World:
    """The same with retries: each hop is retransmitted once, because its acknowledgement is late,
    two neighbours never acknowledge, and walks are launched several times."""
    plain = _walks(protocol)
    rules = plain.rules._replace(
        most_steps=30, retries=1, ack_timeout_s=0.0015, relaunch_s=8.0, launches=2, sweep_steps=80,
        refresh_s=25.0, until_s=40.0,
    )  # fmt: skip
    commands = [command._replace(at=min(command.at, 60.0)) for command in plain.commands]
    early = [command._replace(at=0.1) for command in commands if command.kind == messages.PUBLISH]
    back = [Command(20.0, command.row, START) for command in early[:2]]
    down = tuple(row for row in (3, 11) if row not in {command.row for command in commands})
    return World(
        **{**vars(plain), "rules": rules, "commands": commands + early + back, "down": down}
    )


def _overlay(retries: int) -> World:
    """Five initiators of an overlay, two of which restart after a crash; one leaves. With
    `retries` each hop is retransmitted, as its ACK is late, and two neighbours never answer."""
    topics = [subscription_items.Subscription(topic) for topic in range(TOPICS)]
    rules = rules_of(
        walk_overlay,
        catalogue=subscription_items.catalogue(topics, [], 3), pure=False, alpha=1.0, beta=0.5,
        branches=2, step_pause_s=0.05, bid_timeout_s=0.01, settling_time_s=0.5, most_steps=100,
        filtered=True, bits=64, hashes=2, key=3, launch_jitter_s=0.5, founding_time_s=1.5,
        retries=retries, ack_timeout_s=0.0015,
        relaunch_s=4.0, quick_launches=3, link_check_interval_s=2.0, checks_per_keep_alive=2,
        buffer_time_s=30.0, until_s=50.0,
    )  # fmt: skip
    rows = (0, 29, 12, 7, 20)
    commands = [Command(0.3 * k, row, overlay_messages.JOIN) for k, row in enumerate(rows)]
    commands += [Command(0.1, row, overlay_messages.SUBSCRIBE, row % TOPICS) for row in rows]
    commands += [Command(20.0, row, int(START)) for row in (12, 29)]
    commands += [Command(40.0, 7, overlay_messages.UNSUBSCRIBE, 1)]
    commands += [Command(41.0, 20, overlay_messages.LEAVE)]
    commands += [
        Command(8.0 * event, rows[event % 2], overlay_messages.PUBLISH, event % TOPICS, event)
        for event in range(EVENTS)
    ]
    widest = int(_NETWORK.degree.max())

    def fresh(node_ids: Any) -> Any:
        return walk_overlay.state(
            node_ids, widest, TOPICS, EVENTS, 2, 9, links=4, branches=2,
            buffered_events=2,
            tracked_hops=8 if retries else 0,
        )  # fmt: skip

    down = (3, 11) if retries else ()
    return World(_NETWORK, walk_overlay, fresh, rules, commands, down=down)


def _regions() -> World:
    """Three brokers of DRIP and their successors: entries expire before the next beacon comes, so
    that regions hold elections in between; subscriptions are sent again."""
    n = _NETWORK.n
    rules = rules_of(
        drip,
        brokers=3, nearest=2, copies=1, epidemic=False, by_capability=True, replace_brokers=True,
        beacon_interval_s=2.0, expiry_s=1.7, election_s=0.5, registration_interval_s=3.0,
        exchange_interval_s=1.0, retry_interval_s=0.25, route_retries=3, flood_jitter_s=0.01,
        event_capacity=2, batch=8, transfer_batch=1, transfer_interval_s=0.5,
    )  # fmt: skip
    capability = 1.0 / (1.0 + np.arange(n))
    commands = [Command(0.0, row, START) for row in range(1, n)] + [Command(5.0, 0, START)]
    commands += [
        Command(0.25, row, drip_kinds.SUBSCRIBE, row % 2, argument=row % 2)
        for row in range(0, n, 2)
    ]
    commands += [Command(2.0 + e, 5 * e + 7, PUBLISH, e % 2, e) for e in range(EVENTS)]

    def fresh(names: Any) -> Any:
        return drip.state(
            names, capability[names], brokers=3, nearest=2, copies=1, window=16,
            publishers=EVENTS, own=1, intervals=n, seed=9,
        )  # fmt: skip

    return World(_NETWORK, drip, fresh, rules, commands, until=7.0)


# Name of a run -> its system and rules, in their order; without rules the defaults hold.
_SIMPLE: dict[str, tuple[str, tuple[float, ...]]] = {
    name: (name, ()) for name, system in TABLE.items() if system.adapter is UnsizedAdapter
} | {
    "gossip": ("gossip", (2, 3, 1.0, 0.25, 0.9, 2)),
    "broadcast gossip": ("gossip", (-1, 1, 1.0, 0.25, 0.7, 1)),
    "anti-entropy": ("anti-entropy", (1.0, 0.5, 1, 2)),
    "rumor-routing": ("rumor-routing", (0.75, 6, 12, 1.0, 2)),
}


def world(system: str) -> World:
    """A small run of a system that makes every kind of its records."""
    if system in _SIMPLE:
        return simple_world(*_SIMPLE[system])
    if system.endswith("walk-overlay"):
        return _overlay(2 if system.startswith("careful") else 0)
    if system.startswith("reliable "):
        return _reliable_walks({"directional": directional_walk, "random": random_walk}[system[9:]])
    if system == "drip":
        return _regions()
    return _walks({"directional-walk": directional_walk, "random-walk": random_walk}[system])


_WALKS = {
    int(kind)
    for kind in (
        messages.ADVERTISE, messages.PUBLISH, messages.SUBSCRIBE, messages.UNSUBSCRIBE,
        messages.WITHDRAW, messages.STEP, messages.TRAIL, messages.MATCH, messages.ROOT,
        messages.PATH, messages.DATA, messages.END, messages.SEARCH,
    )
}  # fmt: skip
_RELIABLE = {12, 13, 14, ACK_TIMEOUT, ACK, int(START)}
# These events are published before the publishers have paths, and wait in their buffers.
_EARLY = (_WALKS - {messages.DATA}) | _RELIABLE | {messages.CATCH_UP, messages.SWEPT}
# The kinds that each run must show to be worth comparing.
KINDS = {
    "directional-walk": _WALKS,
    "random-walk": _WALKS,
    "reliable directional": _EARLY,
    "reliable random": _EARLY,
}
for _name in (*_SIMPLE, "drip"):
    _declared = importlib.import_module(PROTOCOLS[_SIMPLE.get(_name, (_name,))[0]].module).KINDS
    KINDS[_name] = {one.number for one in _declared if one.channel != Channel.REPORT}
_OVERLAY = {*range(1, 24), 25, int(START)}
KINDS |= {"walk-overlay": _OVERLAY, "careful walk-overlay": _OVERLAY | {ACK, ACK_TIMEOUT}}
# Its handler alone compiles for a minute: drip/test_drip.py tests the same, with the handler
# interpreted alone and compiled, behind the engine's door.
LARGE = ("drip",)
# These compile for two; walk_overlay/test_walk_overlay.py tests the same in a world of its own.
SLOW = ("walk-overlay", "careful walk-overlay")
QUICK = tuple(system for system in KINDS if system not in (*LARGE, *SLOW))
SYSTEMS = (*QUICK, *(pytest.param(system, marks=pytest.mark.slow) for system in SLOW))


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_lone_node_emits_what_its_row_emits_and_a_row_writes_only_itself(system: str) -> None:
    here = world(system)
    driven = drive(here)
    assert set(driven.records["kind"]) == KINDS[system]
    two_hops = "directional" in system  # only these read their neighbours' neighbour lists
    assert faults(here, driven, lone_rows=_SOME, two_hops=two_hops) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_call_emits_more_than_most_emissions(system: str) -> None:
    here = world(system)
    state = here.fresh(here.names())
    most = here.protocol.most_emissions(state, here.rules)
    assert most <= 96
    assert faults(World(**{**vars(here), "most": most}), drive(here), slots=most) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_an_unknown_kind_changes_nothing(system: str) -> None:
    """Such as a record from a newer version of the protocol."""
    here = world(system)
    state = drive(here).state
    before = [part.copy() for part in arrays(state)]
    record = np.zeros(1, RECORD).view(np.recarray)[0]
    record.at, record.source, record.next, record.topic, record.event = 1.0, 1, 0, 1, 3
    record.args[:] = 1
    for kind in (200, 0, 99):
        record.kind = kind

        def call(message: Any, out: Any) -> None:
            entered(state, here.rules, here.network.neighbourhood(), 0, message, out)

        assert emitted_by(call, record, 64) == []
    for old, new in zip(before, arrays(state), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("system", PROTOCOLS)
def test_every_module_has_the_same_face(system: str) -> None:
    module = importlib.import_module(PROTOCOLS[system].module)
    for name in ("State", "Rules", "state", "most_emissions", "handle", "KINDS", "OPTIONS"):
        assert hasattr(module, name), name
    names = set(module.KINDS.names.values())
    assert {"publish", "delivered"} <= names or {"suspected", "trusted"} <= names


def undeclared_in(here: World, driven: Driven) -> list[str]:
    """Fields that records of a run, or its reports to applications, fill without declaration."""
    both = (driven.records, driven.reports)
    return [line for records in both for line in undeclared(here.protocol.KINDS, records)]


@pytest.mark.parametrize("system", SYSTEMS)
def test_records_fill_only_the_fields_that_their_kinds_declare(system: str) -> None:
    here = world(system)
    assert undeclared_in(here, drive(here)) == []


def large_faults(system: str) -> list[str]:
    """All of the above for a large handler; only to be called interpreted."""
    here = world(system)
    driven = drive(here)
    assert set(driven.records["kind"]) == KINDS[system]
    test_an_unknown_kind_changes_nothing(system)
    assert undeclared_in(here, driven) == []
    most = here.protocol.most_emissions(driven.state, here.rules)
    assert most <= 96
    return faults(World(**{**vars(here), "most": most}), driven, lone_rows=(0, 7), slots=most)


def test_cheats_are_caught() -> None:
    """The tests can fail: another row written, the number of nodes used, a wrong end state."""
    here, handle = world("flooding"), uncompiled(flooding.handle)
    driven = drive(here)

    def writes_next_row(state, rules, neighbourhood, i, message, out):  # type: ignore[no-untyped-def]
        handle(state, rules, neighbourhood, i, message, out)
        state.seen.counts[(int(i) + 1) % len(state.seen.counts), 0] += 1

    def counts_nodes(state, rules, neighbourhood, i, message, out):  # type: ignore[no-untyped-def]
        handle(state, rules, neighbourhood, i, message, out)
        if len(state.node_id) > 1:
            handle(state, rules, neighbourhood, i, message, out)

    def writes_what_it_receives(*given):  # type: ignore[no-untyped-def]
        given[4].flags = 1

    assert "another row was written" in faults(here, driven, writes_next_row)[0]
    assert "to row 7" in faults(here, driven, counts_nodes, lone_rows=(7,))[0]
    assert "the run itself" in faults(here, driven, lambda *_: None)[0]
    with pytest.raises(AssertionError, match="wrote to what it received"):
        faults(here, driven, writes_what_it_receives)
    records = driven.records.copy()
    records["reals"][3, 1] = 0.5
    assert "flood: reals[1]" in undeclared(flooding.KINDS, records)


def digests() -> list[str]:
    """A digest of each run whose system compiles quickly."""
    return [drive(world(system)).digest() for system in QUICK]


@pytest.mark.long
def test_interpreted_code_makes_the_same_bytes_in_another_process() -> None:
    program = "from tests.protocols.test_once import digests\nprint(*digests())"
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ".:src", "PATH": "", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == digests()


@pytest.mark.parametrize("system", ["gossip", "anti-entropy", "rumor-routing"])
def test_the_seed_decides(system: str) -> None:
    here, other = world(system), simple_world(*_SIMPLE[system], seed=10)
    assert drive(here).digest() == drive(here).digest()
    assert not np.array_equal(drive(here).records, drive(other).records)
