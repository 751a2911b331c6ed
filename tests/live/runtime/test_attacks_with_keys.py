"""Attacks by members and by relays, on nodes without keys and on nodes with keys."""

import asyncio
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halfway.live.interface.api import LiveNode
from halfway.live.link.neighbour_queues import STRANGERS
from halfway.live.mesh import Event
from halfway.live.security import Address
from halfway.live.wire.frames import FrameType, frame
from tests.live.runtime.test_attacks import at
from tests.live.runtime.test_keyed_nodes import admitted, keyed
from tests.live.runtime.test_nodes import lone, run, until

Make = Callable[..., LiveNode]


@pytest.fixture(params=["without keys", "with keys"])
def made(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """A function that makes a node, with the peers given: of a network with keys or without."""
    if request.param == "without keys":
        return lambda _name, *peers, **more: lone(
            peers=[one for peer in peers for one in at(peer)], **more
        )
    files = {name: admitted(tmp_path, name, "#") for name in ("a", "b", "c", "d")}
    return lambda name, *peers, **more: keyed(files[name], *peers, **more)


def has_keys(one: LiveNode) -> bool:
    return one.host.settings.has_keys


async def linked(*nodes: LiveNode) -> None:
    """Wait until each node has a neighbour."""
    for one in nodes:
        await until(one.mesh.links.table.neighbours)


def recorded(of: LiveNode) -> list[tuple[Address, bytes]]:
    """The datagrams that reach a node from now on."""
    take, found = of.mesh.endpoint._receive, list[tuple[Address, bytes]]()

    def noted(address: Address, datagram: bytes) -> None:
        found.append((address, datagram))
        take(address, datagram)

    of.mesh.endpoint._receive = noted
    return found


def test_a_replayed_event_is_delivered_once(made: Make) -> None:
    async def program() -> None:
        async with made("a") as victim, made("b", victim) as other:
            await linked(victim, other)
            got: list[Event] = []
            victim.mesh.subscribe("x", got.append)
            datagrams = recorded(victim)
            await other.publish("x", b"1")
            await until(lambda: got)
            before = victim.mesh.counts["records received"]
            for address, datagram in datagrams * 20:
                victim.mesh.links.datagram(address, datagram)
            await other.publish("x", b"2")
            await until(lambda: len(got) == 2)
            taken = victim.mesh.counts["records received"] - before
            refused = victim.status()["datagrams_refused"].get("replay", 0)
            if has_keys(victim):
                assert taken == 1
                assert refused >= 20
            else:  # the window of events drops what was received
                assert taken >= 20
                assert refused == 0

    run(program)


class Relay:
    """A wormhole: it carries datagrams between two nodes that do not know each other."""

    def __init__(self, one: LiveNode, other: LiveNode) -> None:
        self._ends = [(one, self._socket()), (other, self._socket())]
        self.carried: list[bytes] = []
        loop = asyncio.get_running_loop()
        for place, (_, sock) in enumerate(self._ends):
            loop.add_reader(sock.fileno(), self._carry, place)

    @property
    def addresses(self) -> list[Address]:
        """Where each node seems to be for the other one."""
        return [sock.getsockname() for _, sock in self._ends]

    def close(self) -> None:
        """Close both ends."""
        for _, sock in self._ends:
            asyncio.get_running_loop().remove_reader(sock.fileno())
            sock.close()

    def _carry(self, place: int) -> None:
        datagram, _ = self._ends[place][1].recvfrom(65_536)
        there, sock = self._ends[1 - place]
        self.carried.append(datagram)
        sock.sendto(datagram, there.mesh.endpoint.address)

    def _socket(self) -> socket.socket:
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.bind(("127.0.0.1", 0))
        return sock


def test_a_wormhole_makes_far_nodes_neighbours_and_reads_nothing_with_keys(made: Make) -> None:
    async def program() -> None:
        async with made("a") as one, made("b") as other:
            relay = Relay(one, other)
            one.mesh.links.static.append(relay.addresses[0])
            await linked(one, other)
            assert one.mesh.links.table.neighbours() == [other.mesh.node_id]
            got: list[Event] = []
            other.mesh.subscribe("x", got.append)
            await one.publish("x", b"a secret of 20 bytes")
            await until(lambda: got)
            reads = any(b"a secret of 20 bytes" in datagram for datagram in relay.carried)
            assert reads is not has_keys(one)
            relay.close()

    run(program)


def test_a_wrong_back_pointer_of_a_member_is_dropped(made: Make) -> None:
    async def program() -> None:
        async with made("a") as victim, made("b", victim) as liar:
            await linked(victim, liar)
            record = bytes((0, 250, 0, 0, 0)) + (4321).to_bytes(4, "little") + bytes(8)
            liar.mesh.links.send(victim.mesh.node_id, frame(FrameType.RECORD, record))
            liar.mesh.links.flush()
            await until(lambda: victim.mesh.drops.by_reason().get("wrong sender"))

    run(program)


def test_a_black_hole_stops_events_where_there_is_no_other_way(made: Make) -> None:
    async def program() -> None:
        async with made("a") as first, made("b", first) as hole, made("c", hole) as last:
            got: list[Event] = []
            here: list[Event] = []
            last.mesh.subscribe("x", got.append)
            hole.mesh.subscribe("x", here.append)
            hole.mesh.transmit = lambda _record, _data: None
            await until(lambda: len(hole.mesh.links.table.neighbours()) == 2)
            await linked(first, last)
            while not here:  # with keys, the certificates come first
                await first.publish("x", b"1")
                await asyncio.sleep(0.1)
            await asyncio.sleep(0.3)
            assert got == []
            async with made("d", first, last) as other:
                await until(lambda: len(other.mesh.links.table.neighbours()) == 2)
                await until(lambda: len(first.mesh.links.table.neighbours()) == 2)
                while not got:
                    await first.publish("x", b"2")
                    await asyncio.sleep(0.1)
                assert {one.payload for one in got} == {b"2"}

    run(program)


def test_the_tables_stay_within_their_limits_while_a_member_invents_topics(made: Make) -> None:
    """Each event of the member has a topic of its own, and a hundred of its events come before each
    event of the honest member.

    The next hundred begin when that event has arrived, so the node always catches up. The tests of
    a node that does not catch up are in `tests/live/step/test_flood.py`.
    """

    slow = {"period_s": 2.0}  # three nodes share a loop that the many events keep busy

    async def program() -> None:
        async with (
            made("a", **slow) as victim, made("b", victim, **slow) as flooder,
            made("c", victim, **slow) as honest,
        ):  # fmt: skip
            for one in (victim, flooder, honest):
                one.mesh.stepper.compile()
            await until(lambda: len(victim.mesh.links.table.neighbours()) == 2)
            await linked(flooder, honest)
            got: list[Event] = []
            victim.mesh.subscribe("honest", got.append)
            draw = np.random.default_rng(1)
            for number in range(20):
                for _ in range(100):  # a hundred times the share of the honest member
                    await flooder.publish(f"flood/{draw.integers(2**62)}", b"")
                await honest.publish("honest", b"%d" % number)
                await until(lambda number=number: len(got) > number)
            tables, limits = victim.status()["tables"], victim.mesh.limits
            assert tables["topics"] <= limits.topics
            assert tables["topic_numbers_given_anew"] > 500
            assert tables["bodies"] <= limits.bodies
            assert "no room" not in victim.mesh.drops.by_reason()

    run(program)


def test_only_the_datagrams_of_a_neighbour_wait_in_its_queue(made: Make) -> None:
    async def program() -> None:
        async with made("a") as victim, made("b", victim) as other:
            await linked(victim, other)
            datagrams = recorded(victim)
            await other.publish("x", b"1")
            await until(lambda: datagrams)
            (address, datagram), queue_of = datagrams[0], victim.mesh.links.queue_of
            assert queue_of(address, datagram) == other.mesh.node_id
            assert queue_of((address[0], address[1] + 1), datagram) == STRANGERS
            for begin in (0, 2, 4):  # version, session or network: another one is a stranger's
                forged = datagram[:begin] + bytes([datagram[begin] ^ 128]) + datagram[begin + 1 :]
                assert queue_of(address, forged) == STRANGERS
            assert queue_of(address, b"") == queue_of(address, bytes(20)) == STRANGERS
            other.mesh.links.table.leave(victim.mesh.node_id)
            victim.mesh.links.table.leave(other.mesh.node_id)  # heard, but not a neighbour
            assert queue_of(address, datagram) == STRANGERS

    run(program)


class Stuck(np.ndarray[Any, Any]):
    """An array that keeps its values."""

    def __setitem__(self, key: Any, value: Any) -> None:
        """Change nothing."""


def set_all_bits(of: LiveNode) -> None:
    """Let a node of the walk overlay state that it subscribes to everything, whatever it does."""
    stepper = of.mesh.stepper
    state: Any = stepper.node.state
    ones = np.full_like(state.own_filter, 2**32 - 1).view(Stuck)
    stepper.node = stepper.node._replace(state=state._replace(own_filter=ones))
    stepper._open()


@pytest.mark.parametrize("greedy", [False, True])
def test_a_filter_of_ones_brings_all_events_and_takes_none_from_others(
    made: Make, greedy: bool
) -> None:
    """The member in question subscribes to one topic; the other two meet on another topic."""
    overlay = {"system": "walk-overlay", "options": {"bid_timeout_s": 0.3}}

    async def program() -> None:
        async with (
            made("a", **overlay) as publisher, made("b", publisher, **overlay) as member,
            made("c", publisher, **overlay) as reader,
        ):  # fmt: skip
            if greedy:
                set_all_bits(member)
            await until(lambda: len(publisher.mesh.links.table.neighbours()) == 2)
            await linked(member, reader)
            got: list[Event] = []
            member.mesh.subscribe("other", lambda _: None)
            reader.mesh.subscribe("x", got.append)
            await publisher.publish("other", b"")
            number = 0
            while len(got) < 5:  # the overlay forms meanwhile
                await publisher.publish("x", b"%d" % number)
                number += 1
                await asyncio.sleep(0.2)
            before = {one.payload for one in got}
            for late in range(100, 105):
                await publisher.publish("x", b"%d" % late)
                await asyncio.sleep(0.1)
            expected = {b"%d" % late for late in range(100, 105)}
            await until(lambda: expected <= {one.payload for one in got} - before)
            bodies = member.mesh.events.bodies._bodies.values()
            brought = {body.payload for body in bodies if body.topic == "x"} & expected
            assert brought == (expected if greedy else set())

    run(program)
