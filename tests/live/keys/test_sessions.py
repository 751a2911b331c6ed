"""Sessions: how they begin, are renewed, and end; restarts, losses and simultaneous openings."""

import inspect
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from halfway.live.keys import keyed_security, sessions
from halfway.live.keys.identity import Identity
from halfway.live.keys.keyed_security import DEAD_S, KeyedSecurity
from halfway.live.keys.network_membership import with_one_secret
from halfway.live.keys.sessions import WINDOW, ReplayWindow
from halfway.live.security import Security
from tests.live.keys.made import DAY, NOW, MadeNetwork, Wire, member, source, two_nodes

NETWORK = MadeNetwork()


def test_it_is_the_security_that_the_runtime_expects() -> None:
    node = member(NETWORK, Wire(), 1)
    for name in ("beacon", "seal", "open", "pending", "tick", "peers", "forget", "permits"):
        expected = inspect.signature(getattr(Security, name))
        assert inspect.signature(getattr(KeyedSecurity, name)) == expected
    for name, kind in Security.__annotations__.items():
        assert isinstance(getattr(node, name), kind)


def test_two_nodes_talk_after_five_datagrams() -> None:
    wire, first, second = two_nodes(NETWORK)
    kinds = [datagram[1] for _, _, datagram in wire.flown[:6]]
    assert kinds == [16, 17, 18, 19, 20, 1]
    assert wire.nodes[first].peers() == [wire.nodes[second].node_id]
    assert wire.nodes[second].peers() == [wire.nodes[first].node_id]
    assert wire.talk(first, second, b"there")
    assert wire.talk(second, first, b"back")
    assert not wire.refused


def test_overhead_is_what_sealing_adds() -> None:
    wire, first, second = two_nodes(NETWORK)
    sealed = wire.nodes[first].seal(wire.nodes[second].node_id, b"frames", 0.0)
    assert sealed is not None
    assert len(sealed) == len(b"frames") + wire.nodes[first].overhead


@pytest.mark.parametrize("ciphers", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_the_initiator_chooses_the_cipher(ciphers: tuple[int, int]) -> None:
    wire = Wire()
    first, second = (
        wire.join(f"10.0.0.{n}", member(NETWORK, wire, n, cipher=ciphers[n])) for n in (0, 1)
    )
    wire.carry(first, second, wire.nodes[first].beacon())
    assert wire.talk(first, second, b"there")
    assert wire.talk(second, first, b"back")


@settings(max_examples=15)
@given(st.integers(0, 2**32), st.floats(0.0, 0.6))
def test_lost_datagrams_are_repeated(seed: int, loss: float) -> None:
    rng = random.Random(seed)
    wire, first, second = two_nodes(NETWORK, lose=lambda _: rng.random() < loss)
    for _ in range(20):
        wire.beacons()
        wire.pass_time(1.0)
    wire.lose = lambda _: False
    wire.pass_time(5.0)  # what was begun ends
    wire.beacons()
    assert wire.talk(first, second, b"there")
    assert wire.talk(second, first, b"back")


@settings(max_examples=30)
@given(st.permutations(range(6)))
def test_simultaneous_openings_end_with_one_session_on_both_sides(order: list[int]) -> None:
    wire = Wire()
    first, second = (wire.join(f"10.0.0.{n}", member(NETWORK, wire, n)) for n in (1, 2))
    flying = [
        (origin, to, wire.nodes[origin].beacon())
        for origin, to in ((first, second), (second, first))
    ]
    # Each step delivers one of the datagrams under way, in an order that the test chooses.
    for pick in [*order, *[0] * 40]:
        if not flying:
            break
        origin, to, datagram = flying.pop(pick % len(flying))
        wire.nodes[to].open(origin, datagram, 0.0)
        flying += [(to, *caused) for caused in wire.nodes[to].pending()]
    assert not flying
    for one, other in ((first, second), (second, first)):
        assert wire.talk(one, other, b"works")
    numbers = {
        frozenset((current.own_number, current.their_number))
        for node in wire.nodes.values()
        for current, _ in node._peers.values()
    }
    assert len(numbers) == 1


def test_many_nodes_that_start_together_have_all_sessions() -> None:
    wire = Wire()
    for n in range(12):
        wire.join(f"10.0.0.{n}", member(NETWORK, wire, n))
    wire.beacons()
    assert all(len(node.peers()) == 11 for node in wire.nodes.values())


def test_a_restarted_node_is_back_with_its_first_beacon() -> None:
    wire, first, second = two_nodes(NETWORK)
    identity, certificate = wire.nodes[second].membership.identity, wire.nodes[second].membership
    for boot in range(3):
        wire.nodes[second] = member(
            NETWORK, wire, 10 + boot, identity=identity, certificate=certificate.own_bytes
        )
        assert wire.talk(first, second, b"lost") is False
        wire.carry(second, first, wire.nodes[second].beacon())
        assert wire.talk(first, second, b"there")
        assert wire.talk(second, first, b"back")


def test_a_restarted_node_that_is_silent_is_asked_within_five_seconds() -> None:
    wire, first, second = two_nodes(NETWORK)
    identity, certificate = wire.nodes[second].membership.identity, wire.nodes[second].membership
    wire.nodes[second] = member(
        NETWORK, wire, 10, identity=identity, certificate=certificate.own_bytes
    )
    for _ in range(5):
        wire.pass_time(1.0)
        wire.talk(first, second, b"hello")
    assert wire.talk(first, second, b"there")


def test_a_session_is_renewed_within_an_hour_and_loses_nothing() -> None:
    wire, first, second = two_nodes(NETWORK)
    numbers = set()
    for _ in range(3 * 360):
        wire.pass_time(10.0, step=1.0)
        assert wire.talk(first, second, b"there")
        assert wire.talk(second, first, b"back")
        numbers.add(wire.nodes[first]._peers[wire.nodes[second].node_id].current.own_number)
    assert len(numbers) == 4


def test_a_session_is_renewed_before_its_counter_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sessions, "MOST_DATAGRAMS", 300)
    monkeypatch.setattr(sessions, "RENEW_BEFORE_DATAGRAMS", 100)
    wire, first, second = two_nodes(NETWORK)
    for number in range(2000):
        assert wire.talk(first, second, b"there")
        if number % 50 == 0:
            wire.pass_time(1.0)


def test_used_up_keys_seal_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    wire, first, second = two_nodes(NETWORK)
    monkeypatch.setattr(sessions, "MOST_DATAGRAMS", 5)
    sealed = [wire.nodes[first].seal(wire.nodes[second].node_id, b"", 0.0) for _ in range(9)]
    assert sealed[-1] is None
    assert wire.nodes[first].seal(wire.nodes[second].node_id, b"", 3600.0) is None


def test_a_peer_that_is_silent_for_a_minute_has_no_session() -> None:
    wire, first, second = two_nodes(NETWORK)
    del wire.nodes[second]
    wire.pass_time(DEAD_S + 1)
    assert wire.nodes[first].peers() == []
    assert wire.nodes[first].tick(wire.clock.now) == float("inf")


def test_a_peer_may_move_to_another_address() -> None:
    wire, first, second = two_nodes(NETWORK)
    moved = wire.join("10.0.0.9", wire.nodes.pop(second))
    assert wire.talk(moved, first, b"from elsewhere")
    session = wire.nodes[first]._peers[wire.nodes[moved].node_id].current
    assert session.address == moved


@given(st.lists(st.integers(0, 3 * WINDOW), max_size=200))
def test_the_window_accepts_each_counter_once(counters: list[int]) -> None:
    window, accepted, highest = ReplayWindow(), set[int](), -1
    for counter in counters:
        new = counter not in accepted and highest - counter < WINDOW
        assert window.is_new(counter) is new
        if new:
            window.accept(counter)
            accepted.add(counter)
            highest = max(highest, counter)


def test_reordered_datagrams_open_within_the_window_only() -> None:
    wire, first, second = two_nodes(NETWORK)
    peer, opening = wire.nodes[second].node_id, wire.nodes[second]
    early = [wire.nodes[first].seal(peer, b"%d" % n, 0.0) or b"" for n in range(WINDOW + 5)]
    assert opening.open(first, early[-1], 0.0)[1] == b"%d" % (WINDOW + 4)
    reasons = [opening.open(first, datagram, 0.0) for datagram in reversed(early[:-1])]
    assert [one[-1] for one in reasons[: WINDOW - 1]] == [
        b"%d" % n for n in range(WINDOW + 3, 4, -1)
    ]
    assert {one[-1] for one in reasons[WINDOW - 1 :]} == {"replay"}


def test_one_secret_makes_a_network_without_a_root_key() -> None:
    wire = Wire()
    addresses = []
    for n, secret in enumerate((bytes(32), bytes(32), b"s" * 32)):
        identity = Identity.new(source(n))
        membership = with_one_secret(
            identity, secret, name=f"n{n}", network="small", wall=wire.clock.wall
        )
        node = KeyedSecurity(membership, random=source(50 + n))
        assert "weaker" in node.label
        addresses.append(wire.join(f"10.0.0.{n}", node))
    wire.beacons()
    assert wire.talk(addresses[0], addresses[1], b"there")
    assert wire.nodes[addresses[0]].permits(wire.nodes[addresses[1]].node_id, "publish", "a/b")
    assert wire.nodes[addresses[2]].peers() == []
    keys = [wire.nodes[one].membership.topic_key for one in addresses]
    assert keys[0] == keys[1] != keys[2]
    assert set(wire.refused) == {"other network"}


def test_permissions_follow_the_certificate() -> None:
    wire = Wire()
    first = wire.join("10.0.0.1", member(NETWORK, wire, 1))
    second = wire.join(
        "10.0.0.2", member(NETWORK, wire, 2, publish=("sensors/#",), subscribe=("alarms/+",))
    )
    wire.beacons()
    node, peer = wire.nodes[first], wire.nodes[second].node_id
    assert node.permits(peer, "publish", "sensors/a")
    assert not node.permits(peer, "publish", "alarms/a")
    assert node.permits(peer, "subscribe", "alarms/a")
    assert not node.permits(peer, "subscribe", "#")
    assert not node.permits(peer, "other", "sensors/a")
    assert not node.permits(peer + 1, "publish", "sensors/a")
    assert not wire.nodes[second].permits(peer, "publish", "alarms/a"), "also of the node itself"


def test_the_clocks_of_two_nodes_may_differ_by_an_hour() -> None:
    wire = Wire()
    first = wire.join("10.0.0.1", member(NETWORK, wire, 1, not_after=NOW + 60))
    wire.clock.offset = 3600.0
    second = wire.join("10.0.0.2", member(NETWORK, wire, 2, not_after=NOW + DAY))
    wire.beacons()
    assert wire.talk(second, first, b"ahead by an hour")
    wire.clock.offset = -3600.0
    assert wire.talk(first, second, b"behind by an hour")
    # Replay logic reads no clock: after a jump of a year the session goes on, or ends by expiry.
    wire.clock.offset = 365.0 * DAY
    wire.pass_time(1.0)
    assert wire.nodes[second].peers() == []
    wire.clock.offset = 0.0
    wire.beacons()
    assert wire.talk(first, second, b"no lock-out")


def test_a_session_beyond_the_limit_is_refused_and_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keyed_security, "MOST_PEERS", 1)
    wire, first, second = two_nodes(NETWORK)
    third = wire.join("10.0.0.3", member(NETWORK, wire, 3))
    for origin, to in ((first, third), (third, first)):
        wire.carry(origin, to, wire.nodes[origin].beacon())
    wire.pass_time(2.0)
    assert wire.nodes[first].peers() == [wire.nodes[second].node_id]
    assert wire.refused["full"] > 0
    assert set(wire.nodes[first]._versions) == {wire.nodes[second].node_id}
