"""Once: every protocol is one function, whether its node is a row among many or alone.

GeoRendezvous has this test in `test_georendezvous`.
"""

import importlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

from halfway.core.message import MESSAGE, START
from halfway.protocols import SYSTEMS as PROTOCOLS
from halfway.protocols import anti_entropy, flooding, gossip
from halfway.protocols.drip import handler as voronoi_brokers
from halfway.protocols.reliable_hop import ACK, ACK_TIMEOUT
from halfway.protocols.rumor_routing import handler as rumor
from halfway.protocols.walk_overlay import handler as walk_overlay
from halfway.protocols.walk_overlay import messages as overlay_messages
from halfway.protocols.walk_overlay import subscriptions
from halfway.protocols.walks import directional_walk, messages, random_walk
from halfway.world.workload.pairs import distinct_pairs
from tests.networks import disk
from tests.protocols.lone import Letter, World, arrays, drive, emitted_by, faults

EVENTS, TOPICS = 5, 2
_NETWORK = disk(n=30, radius=0.32, seed=4)
_SOME = (0, 7, 12, 29)


def _letters(kinds: Any) -> list[Letter]:
    """Two publishers of two topics, one of them late; every third node subscribes."""
    rows = range(0, _NETWORK.n, 3)
    wishes = [Letter(0.5 + row / 64, row, kinds.SUBSCRIBE, row % TOPICS) for row in rows]
    told = [
        Letter(2.0 * event, 5 * (event % TOPICS), kinds.PUBLISH, event % TOPICS, event)
        for event in range(EVENTS)
    ]
    return wishes + told


def _walks(protocol: Any) -> World:
    """Three topics whose walks meet, and an event on each path."""
    pairs = distinct_pairs(_NETWORK.n, 3, 2)
    commands = [
        Letter(0.5 * w, int(pairs[t, w]), messages.LAUNCH, t, walk=2 * t + w)
        for t in range(3)
        for w in (0, 1)
    ]
    commands += [Letter(1e6, int(pairs[t, 0]), messages.PUBLISH, t, t) for t in range(3)]
    widest = int(_NETWORK.degree.max())
    rules = messages.Rules((1.0, 0.5), True, 10_000)
    return World(_NETWORK, protocol, lambda n: protocol.state(n, widest, 3, 9), rules, commands)


def _reliable_walks(protocol: Any) -> World:
    """The same with retries: each hop is retransmitted once, because its acknowledgement is late,
    two neighbours never acknowledge, and walks are launched several times."""
    plain = _walks(protocol)
    rules = plain.rules._replace(
        most_steps=30, retries=1, ack_timeout_s=0.0015, relaunch_s=8.0, launches=2, refresh_s=25.0,
        until_s=40.0, buffer_size=2,
    )  # fmt: skip
    commands = [letter._replace(at=min(letter.at, 60.0)) for letter in plain.commands]
    early = [letter._replace(at=0.1) for letter in commands if letter.kind == messages.PUBLISH]
    back = [Letter(20.0, letter.row, START) for letter in early[:2]]
    down = tuple(row for row in (3, 11) if row not in {letter.row for letter in commands})
    return World(
        **{**vars(plain), "rules": rules, "commands": commands + early + back, "down": down}
    )


def _overlay(retries: int) -> World:
    """Five initiators of an overlay, two of which restart after a crash; one leaves. With
    `retries` each hop is retransmitted, as its ACK is late, and two neighbours never answer."""
    topics = [subscriptions.Subscription(topic) for topic in range(TOPICS)]
    rules = walk_overlay.Rules(
        catalogue=subscriptions.catalogue(topics, [], 3), pure=False, alpha=1.0, beta=0.5,
        branches=2, step_pause_s=0.05, bid_timeout_s=0.01, settling_time_s=0.5, most_steps=100,
        filtered=True, bits=64, hashes=2, key=3, retries=retries, ack_timeout_s=0.0015,
        relaunch_s=4.0, launches=3, link_check_interval_s=2.0, checks_per_keep_alive=2,
        buffer_time_s=30.0, until_s=50.0,
    )  # fmt: skip
    rows = (0, 29, 12, 7, 20)
    kinds = [overlay_messages.LAUNCH] * 2 + [overlay_messages.JOIN] * 3
    commands = [Letter(0.3 * k, row, kinds[k]) for k, row in enumerate(rows)]
    commands += [Letter(0.1, row, overlay_messages.SUBSCRIBE, row % TOPICS) for row in rows]
    commands += [Letter(20.0, row, int(START)) for row in (12, 29)]
    commands += [Letter(40.0, 7, overlay_messages.UNSUBSCRIBE, 1)]
    commands += [Letter(41.0, 20, overlay_messages.LEAVE)]
    commands += [
        Letter(8.0 * event, rows[event % 2], overlay_messages.PUBLISH, event % TOPICS, event)
        for event in range(EVENTS)
    ]
    widest = int(_NETWORK.degree.max())

    def fresh(node_ids: Any) -> Any:
        return walk_overlay.state(
            node_ids, widest, TOPICS, EVENTS, 2, 9, links=4, buffered_events=2,
            tracked_hops=8 if retries else 0,
        )  # fmt: skip

    down = (3, 11) if retries else ()
    return World(_NETWORK, walk_overlay, fresh, rules, commands, down=down)


def _regions() -> World:
    """Three brokers and their deputies: beacons are forgotten before the next comes, so that
    nodes call for others in between; who was told of subscriptions is told again."""
    drip, n = voronoi_brokers, _NETWORK.n
    rules = drip.Rules(
        brokers=3, nearest=2, copies=1, epidemic=False, by_ability=True, replace=True, period=2.0,
        expiry=1.7, election=0.5, renew=3.0, exchange=1.0, patience=0.25, tries=3, wait=0.01,
        space=2, batch=8, handed=1, rest=0.5, until=7.0,
    )  # fmt: skip
    ability = 1.0 / (1.0 + np.arange(n))
    commands = [Letter(0.0, row, START) for row in range(1, n)] + [Letter(5.0, 0, START)]
    commands += [Letter(0.25, row, drip.SUBSCRIBE, row % 2, row % 2) for row in range(0, n, 2)]
    commands += [Letter(2.0 + e, 5 * e + 7, drip.PUBLISH, e % 2, e) for e in range(EVENTS)]

    def fresh(names: Any) -> Any:
        return drip.state(names, rules, ability[names], window=32, own=1, intervals=n, seed=9)

    return World(_NETWORK, drip, fresh, rules, commands)


def world(system: str) -> World:
    """A small run of a system that makes every kind of its records."""
    if system.endswith("walk-overlay"):
        return _overlay(2 if system.startswith("careful") else 0)
    if system.startswith("reliable "):
        return _reliable_walks({"directional": directional_walk, "random": random_walk}[system[9:]])
    if system == "voronoi-brokers":
        return _regions()
    if system in ("directional-walk", "random-walk"):
        return _walks({"directional-walk": directional_walk, "random-walk": random_walk}[system])
    protocol, rules = {
        "flooding": (flooding, flooding.Rules(0.01)),
        "gossip": (gossip, gossip.Rules(2, 3, 1.0, 0.25, 0.9, 2)),
        "broadcast gossip": (gossip, gossip.Rules(gossip.WHOLE, 1, 1.0, 0.25, 0.7)),
        "anti-entropy": (anti_entropy, anti_entropy.Rules(1.0, 0.5, 12.0, 1, 2)),
        "rumor": (rumor, rumor.Rules(0.75, 6, 12, 1.0, 2)),
    }[system]
    book, commands = flooding.Book(TOPICS), _letters(flooding)
    if system == "anti-entropy":
        commands += [Letter(0.0, row, START) for row in range(_NETWORK.n)]
    if system == "rumor":
        commands += [Letter(0.9 + row / 64, row, START) for row in range(0, _NETWORK.n, 3)]

    def fresh(names: Any) -> Any:
        seed = () if protocol is flooding else (9,)
        return protocol.state(names, EVENTS, TOPICS, *seed)  # type: ignore[operator]

    return World(_NETWORK, protocol, fresh, rules, book, commands)  # type: ignore[arg-type]


_RELIABLE = {12, 13, 14, ACK_TIMEOUT, ACK, int(START)}
# What each run must have shown to be worth comparing: the kinds of the protocol's own records.
KINDS = {
    "flooding": {1, 2, 3, 5},
    "gossip": {1, 2, 3, 5},
    "broadcast gossip": {1, 2, 3, 5},
    "anti-entropy": {1, 2, 3, 5, 7, 8, int(START)},
    "rumor": {1, 2, 3, 5, 6, 7, 8, 11, int(START)},
    "directional-walk": {1, 2, 3, 4, 5, 6},
    "random-walk": {1, 2, 3, 4, 5, 6},
    "reliable directional": {1, 2, 3, 4, 5, 6} | _RELIABLE,
    "reliable random": {1, 2, 3, 4, 5, 6} | _RELIABLE,
    "voronoi-brokers": set(voronoi_brokers.KINDS) - {voronoi_brokers.DELIVERED},
}
_OVERLAY = {*range(1, 24), 25, int(START)}
KINDS |= {"walk-overlay": _OVERLAY, "careful walk-overlay": _OVERLAY | {ACK, ACK_TIMEOUT}}
# Compiled on its own its handler takes a minute: tests/protocols/drip/test_drip.py holds it
# to the same, interpreted on its own and compiled within the engine.
LARGE = ("voronoi-brokers",)
# These take two; walk_overlay/test_walk_overlay.py holds a world of its own to the same.
SLOW = ("walk-overlay", "careful walk-overlay")
QUICK = tuple(system for system in KINDS if system not in (*LARGE, *SLOW))
SYSTEMS = (*QUICK, *(pytest.param(system, marks=pytest.mark.slow) for system in SLOW))


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_lone_node_says_what_its_row_says_and_a_row_writes_only_itself(system: str) -> None:
    here = world(system)
    driven = drive(here)
    assert set(driven.records["kind"]) == KINDS[system]
    tales = "directional" in system  # only these ask what neighbours told of theirs
    assert faults(here, driven, lone_rows=_SOME, tales=tales) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_no_call_emits_more_than_the_protocol_says(system: str) -> None:
    here = world(system)
    state = here.fresh(here.names())
    most = here.protocol.most_emissions(state, here.rules)
    assert most <= 64
    assert faults(World(**{**vars(here), "most": most}), drive(here), slots=most) == []


@pytest.mark.parametrize("system", SYSTEMS)
def test_a_kind_that_nobody_knows_changes_nothing(system: str) -> None:
    """Also a letter from a newer version of a node, with whatever it holds."""
    here = world(system)
    state = drive(here).state
    before = [part.copy() for part in arrays(state)]
    record = np.zeros(1, MESSAGE).view(np.recarray)[0]
    record.at, record.source, record.next, record.topic, record.event = 1.0, 1, 0, 1, 3
    record.args[:] = 1
    for kind in (200, 0, 99):
        record.kind = kind

        def call(message: Any, out: Any) -> None:
            here.protocol.handle(
                state,
                here.rules,
                here.network.neighbourhood(),
                here.book,
                np.uint32(0),
                message,
                out,
            )

        assert emitted_by(call, record, 64) == []
    for old, new in zip(before, arrays(state), strict=True):
        np.testing.assert_array_equal(old, new)


@pytest.mark.parametrize("system", PROTOCOLS)
def test_every_module_has_the_same_face(system: str) -> None:
    module = importlib.import_module(PROTOCOLS[system])
    for name in ("State", "Rules", "Book", "state", "most_emissions", "handle", "KINDS"):
        assert hasattr(module, name), name
    assert hasattr(module, "START") == (255 in module.KINDS)
    assert {module.PUBLISH, module.DELIVERED} <= set(module.KINDS)
    assert len(set(module.KINDS.values())) == len(module.KINDS)


@pytest.mark.parametrize("system", SYSTEMS)
def test_every_kind_has_a_name(system: str) -> None:
    here = world(system)
    run = drive(here)
    assert set(run.records["kind"]) | set(run.told["kind"]) <= set(here.protocol.KINDS)


def large_faults(system: str) -> list[str]:
    """All of the above for one whose handler is large; only to be called interpreted."""
    here = world(system)
    driven = drive(here)
    assert set(driven.records["kind"]) == KINDS[system]
    test_a_kind_that_nobody_knows_changes_nothing(system)
    most = here.protocol.most_emissions(driven.state, here.rules)
    assert most <= 64
    return faults(World(**{**vars(here), "most": most}), driven, lone_rows=(0, 7), slots=most)


def test_cheats_are_caught() -> None:
    """The oracle can fail: on a neighbour's row written, on a world looked at, on a third side."""
    here = world("flooding")
    driven = drive(here)

    def writes_next_row(state, rules, neighbourhood, i, message, out):  # type: ignore[no-untyped-def]
        flooding.handle(state, rules, neighbourhood, i, message, out)
        state.seen[(int(i) + 1) % len(state.seen), 0] += 1  # a window's place: an event id

    def counts_nodes(state, rules, neighbourhood, i, message, out):  # type: ignore[no-untyped-def]
        flooding.handle(state, rules, neighbourhood, i, message, out)
        if len(state.name) > 1:
            flooding.handle(state, rules, neighbourhood, i, message, out)

    def writes_what_it_hears(*given):  # type: ignore[no-untyped-def]
        given[5].flags = 1

    assert "another row was written" in faults(here, driven, writes_next_row)[0]
    assert "to row 7" in faults(here, driven, counts_nodes, lone_rows=(7,))[0]
    assert "the run itself" in faults(here, driven, lambda *_: None)[0]
    with pytest.raises(AssertionError, match="wrote to what it received"):
        faults(here, driven, writes_what_it_hears)


def digests() -> list[str]:
    """One for each system that is compiled soon enough."""
    return [drive(world(system)).digest() for system in QUICK]


def test_interpreted_code_does_the_same_bytes_in_another_process() -> None:
    program = "from tests.protocols.test_once import digests\nprint(*digests())"
    told = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        env={"NUMBA_DISABLE_JIT": "1", "PYTHONPATH": ".:src", "PATH": "", "HOME": "/nonexistent"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert told.stdout.split() == digests()


@pytest.mark.parametrize("system", ["gossip", "anti-entropy", "rumor"])
def test_the_seed_decides(system: str) -> None:
    here = world(system)
    other = World(**{**vars(here), "fresh": lambda names: here.protocol.state(names, 5, 2, 10)})
    assert drive(here).digest() == drive(here).digest()
    assert not np.array_equal(drive(here).records, drive(other).records)
