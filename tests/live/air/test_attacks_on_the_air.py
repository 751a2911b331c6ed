"""Attacks by strangers and members on the air: with keys, and without keys where this differs."""

import argparse
import asyncio
import json
import socket
import sys
from collections import Counter

import pytest
from tools.live.air_attacks import keep_events, plan_of
from tools.live.air_attacks import run as measured

from halfway.live.air.air import Air
from halfway.live.air.air_host import _NETWORK, PORT, AirHost, AirSettings
from halfway.live.air.air_keys import AirKeys
from halfway.live.air.frame_queue import relay_socket
from halfway.live.keys.datagrams import CONTROL, FRAMES, HEADER, VERSION
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.mesh import Event
from halfway.live.plain import Plain
from halfway.live.runtime.settings import GROUP
from halfway.live.wire.frames import FrameType, Hello, frame, hello_bytes
from tests.live.air.test_air import on_air
from tests.live.runtime.test_nodes import run, until

FORGER = 77
# Places in a frame: the IPv4 address of its receiver, and the content of its datagram.
_ADDRESS, _GROUPS, _PAYLOAD = 30, 224, 42
# A program of a stranger: it sends datagrams to a multicast group and to addresses.
STRANGER = """
import json, socket, sys
own, targets, datagrams = json.load(sys.stdin)
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(tuple(own))
sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(own[0]))
for datagram in datagrams:
    for target in targets:
        sock.sendto(bytes.fromhex(datagram), tuple(target))
"""
WITH_AND_WITHOUT = pytest.mark.parametrize("has_keys", [False, True])


def both(*links: tuple[int, int]) -> list[tuple[int, int]]:
    return [*links, *((b, a) for a, b in links)]


def settings(n: int, *, has_keys: bool = True) -> AirSettings:
    keys = AirKeys(n) if has_keys else None
    return AirSettings("flooding", period_s=0.3, compiled=False, keys=keys)


async def linked(host: AirHost, pairs: list[tuple[int, int]]) -> None:
    assert await host.linked(pairs, 60.0) < float("inf")


def forged(host: AirHost) -> list[bytes]:
    """What a stranger sends to pass as a neighbour of all nodes of a host."""
    victims = [one.node_id for one in host.nodes]
    plain = Plain(FORGER, _NETWORK)
    plain._peers.update(victims)
    others = tuple(sorted({*victims, *range(1000, 1040)}))
    rules, found = host.nodes[0].identity.rules, [plain.beacon()]
    for number in range(4):
        hello = Hello(1, number, 300, rules, 0, 65_535, "forger", others, others)
        whole = frame(FrameType.HELLO, hello_bytes(hello))
        sealed = plain.seal(victims[0], whole, 0.0)
        assert sealed is not None
        found += [sealed, HEADER.pack(VERSION, FRAMES, number, number) + whole]
    return [*found, AirKeys(1).security(0).beacon()]  # of another network


@on_air
@WITH_AND_WITHOUT
def test_nobody_with_keys_lists_a_stranger_that_forges_hellos(has_keys: bool) -> None:
    pairs = both((0, 1), (0, 2), (1, 2))

    async def program() -> None:
        with Air(3) as air:
            air.set_links(pairs)
            async with AirHost(air, settings(3, has_keys=has_keys), places=[0, 1]) as host:
                await linked(host, both((0, 1)))
                datagrams = forged(host)
                targets = [GROUP, *((air.address(place), PORT) for place in (0, 1))]
                sent = [(air.address(2), PORT), targets, [one.hex() for one in datagrams]]
                air.nodes[2].run([sys.executable, "-c", STRANGER], [json.dumps(sent)])
                if not has_keys:
                    await until(
                        lambda: all(FORGER in one.links.table.neighbours() for one in host.nodes)
                    )
                    return
                for one in host.nodes:  # each datagram comes by the group, and to the address
                    await until(
                        lambda one=one: sum(one.links.refusals.values()) >= 2 * len(datagrams)
                    )
                for one, other in (host.nodes, host.nodes[::-1]):
                    assert list(one.links.table.heard()) == [other.node_id]
                    assert one.security.peers() == [other.node_id]

    run(program)


def frames_of(relay: socket.socket) -> list[tuple[bytes, str]]:
    """All frames on their way to nodes that wait at a socket of the relay, and their interfaces."""
    found = []
    while True:
        try:
            data, (came_by, *_) = relay.recvfrom(4096)
        except BlockingIOError:
            return found
        found.append((data, f"d{came_by[1:]}"))


@on_air
@WITH_AND_WITHOUT
@pytest.mark.long
def test_recorded_frames_that_are_sent_again_are_refused_with_keys(has_keys: bool) -> None:
    """The frames are repeated as they were, with the addresses of their senders."""
    pairs = both((0, 1), (1, 2))

    async def program() -> None:
        with Air(3) as air:
            air.set_links(pairs)
            async with AirHost(air, settings(3, has_keys=has_keys)) as host:
                await linked(host, pairs)
                with air._relay.inside():
                    relay = relay_socket()
                got: list[Event] = []
                host.nodes[2].subscribe("x", got.append)
                for number in range(50):
                    await host.nodes[0].publish("x", b"%d" % number)
                taken = [50, 100, 50]  # each node repeats an event once, to all of its neighbours
                await until(lambda: records_of(host) == taken and len(got) == 50)
                recorded = [one for one in frames_of(relay) if is_sealed(one[0])]
                assert len(recorded) >= 4
                for _ in range(20):
                    for data, goes_by in recorded:
                        relay.sendto(data, (goes_by, 0))
                    await asyncio.sleep(0.01)
                if has_keys:
                    await until(lambda: refused(host) == 20 * len(recorded))
                    assert records_of(host) == taken
                else:
                    await until(lambda: records_of(host) == [21 * count for count in taken])
                    assert refused(host) == 0
                assert len(got) == 50
                await host.nodes[0].publish("x", b"later")
                await until(lambda: len(got) == 51)
                relay.close()

    run(program)


def is_sealed(data: bytes) -> bool:
    """Whether a frame goes to one node, and is not part of a handshake."""
    payload = data[_PAYLOAD:]
    return data[_ADDRESS] < _GROUPS and (payload[0] != VERSION or payload[1] <= CONTROL)


def records_of(host: AirHost) -> list[int]:
    """How many records each node received."""
    return [one.counts["records received"] for one in host.nodes]


def refused(host: AirHost) -> int:
    """How many datagrams the nodes refused as replays."""
    return sum(one.links.refusals.get("replay", 0) for one in host.nodes)


@on_air
def test_a_member_that_is_revoked_while_it_runs_is_a_stranger() -> None:
    pairs = both((0, 1), (1, 2), (2, 3), (0, 3))

    async def program() -> None:
        own = settings(4)
        keys = own.keys
        assert keys is not None
        with Air(4) as air:
            air.set_links(pairs)
            async with AirHost(air, own) as host:
                await linked(host, pairs)
                thief, others = host.nodes[0], host.nodes[1:]
                got: list[list[Event]] = [[] for _ in host.nodes]
                for one, events in zip(host.nodes, got, strict=True):
                    one.subscribe("x", events.append)
                await thief.publish("x", b"1")
                await until(lambda: all(len(events) == 1 for events in got))
                security = others[1].security  # the member is not a neighbour of this node
                assert isinstance(security, KeyedSecurity)
                assert security.learn_revocations(keys.revoke(0), host.scheduler.now())
                others[1].links.flush()
                await until(lambda: not any(thief.node_id in n.security.peers() for n in others))
                await until(
                    lambda: not any(thief.node_id in n.links.table.neighbours() for n in others)
                )
                await thief.publish("x", b"2")
                await others[0].publish("x", b"3")
                await until(lambda: all(len(events) == 2 for events in got[1:]))
                # Each further handshake with the member ends with this refusal.
                before = sum(one.links.refusals.get("revoked", 0) for one in others)
                await until(
                    lambda: sum(one.links.refusals.get("revoked", 0) for one in others) > before + 3
                )
                assert not any(thief.node_id in one.security.peers() for one in others)
                assert [[one.payload for one in events] for events in got] == [
                    [b"1", b"2"], *[[b"1", b"3"]] * 3
                ]  # fmt: skip

    run(program)


@on_air
def test_a_black_hole_stops_no_event_once_there_is_another_path() -> None:
    pairs, another = both((0, 1), (1, 2)), both((0, 3), (2, 3))

    async def program() -> None:
        with Air(4) as air:
            air.set_links(pairs)
            async with AirHost(air, settings(4)) as host:
                await linked(host, pairs)
                first, hole, last = host.nodes[:3]
                kept, got = Counter[str](), list[Event]()
                keep_events(hole, kept)
                last.subscribe("x", got.append)
                for number in range(10):
                    await first.publish("x", b"%d" % number)
                await until(lambda: kept["events"] == 10)
                assert got == []
                air.set_links([*pairs, *another])
                await linked(host, another)
                for number in range(10, 30):
                    await first.publish("x", b"%d" % number)
                    await until(lambda number=number: len(got) == number - 9)
                assert [one.payload for one in got] == [b"%d" % number for number in range(10, 30)]
                assert kept["events"] >= 30

    run(program)


@on_air
@pytest.mark.long
def test_the_events_of_the_others_arrive_while_a_member_floods() -> None:
    """The nodes are processes of their own."""
    given = argparse.Namespace(
        kind="flood", system="flooding", nodes=4, rate=10.0, flood=1000.0, seconds=3.0, keys=True
    )
    row = measured(plan_of(given, attacks=True))
    assert row["flood_sent"] > 300  # thirty times the events of another member, also if it is slow
    assert row["delivered"] >= 0.95
    assert row["refused"] == {}
