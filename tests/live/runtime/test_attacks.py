"""Attacks on nodes that run: what a stranger and a member reach without keys, and with keys."""

import socket
from pathlib import Path

from halfway.live.interface.api import LiveNode
from halfway.live.plain import Plain
from halfway.live.wire.frames import FrameType, Hello, frame, hello_bytes
from tests.live.runtime.test_keyed_nodes import admitted, keyed
from tests.live.runtime.test_nodes import lone, run, until

FORGER = 77


def forged(victim: LiveNode) -> list[bytes]:
    """What a program of this machine sends to pass as a neighbour: a beacon, and false hellos.

    The hellos say that the forger hears the victim, and has 40 neighbours which do not exist.
    """
    of, own = Plain(FORGER, victim.host.settings.network_id), victim.mesh.node_id
    of._peers.add(own)
    others = tuple(sorted({own, *range(1000, 1040)}))
    found = [of.beacon()]
    for number in range(4):
        hello = Hello(
            1, number, 1000, victim.mesh.identity.rules, 0, 65_535, "forger", others, others
        )
        sealed = of.seal(own, frame(FrameType.HELLO, hello_bytes(hello)), 0.0)
        assert sealed is not None
        found.append(sealed)
    # A record that names another node as its sender: a wrong back pointer.
    record = bytes((0, 250, 0, 0, 0)) + (4321).to_bytes(4, "little")
    for content in (b"", record):  # one frame without any content
        sealed = of.seal(own, frame(FrameType.RECORD, content), 0.0)
        assert sealed is not None
        found.append(sealed)
    return found


async def send(datagrams: list[bytes], to: LiveNode) -> None:
    """Send datagrams to a node, and give it the time to take them."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        before = to.mesh.endpoint.received
        for one in datagrams:
            sock.sendto(one, to.mesh.endpoint.address)
        await until(lambda: to.mesh.endpoint.received >= before + len(datagrams))


def test_a_forged_hello_makes_a_neighbour_without_keys_but_no_other_sender() -> None:
    async def program() -> None:
        async with lone() as victim:
            await send(forged(victim), victim)
            assert victim.mesh.links.table.neighbours() == [FORGER]
            assert victim.mesh.drops.by_reason()["wrong sender"] == 2

    run(program)


def test_with_keys_a_forged_hello_makes_no_neighbour(tmp_path: Path) -> None:
    files = admitted(tmp_path, "one", "#")

    async def program() -> None:
        async with keyed(files) as victim:
            datagrams = forged(victim)
            await send(datagrams, victim)
            assert victim.mesh.links.table.heard() == {}
            refused = victim.status()["datagrams_refused"]
            assert sum(refused.values()) >= len(datagrams)

    run(program)


def at(one: LiveNode) -> list[str]:
    """The address of a node, for the peers of another one."""
    host, port = one.mesh.endpoint.address
    return [f"{host}:{port}"]
