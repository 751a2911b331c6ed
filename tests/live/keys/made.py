"""Networks, identities and securities that tests of keys make, without any file."""

import random
from collections import Counter, deque
from collections.abc import Callable
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from halfway.live.keys.certificates import (
    Certificate,
    Revocations,
    network_id_of,
    signed_certificate,
    signed_revocations,
)  # fmt: skip
from halfway.live.keys.identity import Identity
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.keys.network_membership import Membership
from halfway.live.security import Address, Refused

DAY = 86_400
NOW = 1_800_000_000.0  # a wall clock, seconds since 1970


def source(seed: int) -> Callable[[int], bytes]:
    return random.Random(seed).randbytes


class MadeNetwork:
    """A network with a root key, which admits and revokes without files."""

    def __init__(self, seed: int = 0) -> None:
        self.random = source(seed)
        self.root = Ed25519PrivateKey.from_private_bytes(self.random(32))
        self.root_key = self.root.public_key().public_bytes_raw()
        self.id, self.secret = network_id_of(self.root_key), self.random(32)
        self.serials = 0

    def certificate(
        self, identity: Identity, *, name: str = "kitchen", publish: tuple[str, ...] = ("#",),
        subscribe: tuple[str, ...] = ("#",), not_after: float = NOW + 30 * DAY, salt: int = 0,
    ) -> bytes:  # fmt: skip
        self.serials += 1
        made = Certificate(
            self.id, self.serials, int(not_after), salt, identity.signing_public,
            identity.static_public, name, publish, subscribe,
        )  # fmt: skip
        return signed_certificate(made, self.root)

    def revocations(self, version: int, *serials: int) -> bytes:
        return signed_revocations(Revocations(version, serials), self.id, self.root)


class Clock:
    """A clock of the test, in seconds; `wall` is the wall clock beside it."""

    def __init__(self) -> None:
        self.now, self.offset = 0.0, 0.0

    def wall(self) -> float:
        return NOW + self.now + self.offset


class Wire:
    """Securities at addresses, and the datagrams between them.

    lose: whether a datagram is lost. `heard` has what the securities opened, `refused` the reasons.
    """

    def __init__(self, lose: Callable[[bytes], bool] = lambda _: False) -> None:
        self.clock, self.lose = Clock(), lose
        self.nodes: dict[Address, KeyedSecurity] = {}
        self.heard: list[tuple[Address, int, bytes]] = []
        self.refused: Counter[str] = Counter()
        self.flown: list[tuple[Address, Address, bytes]] = []  # from, to, datagram

    def join(self, host: str, security: KeyedSecurity) -> Address:
        self.nodes[host, 4711] = security
        return host, 4711

    def carry(self, origin: Address, to: Address, datagram: bytes) -> None:
        """Deliver a datagram, and everything that it causes, in order."""
        waiting = deque([(origin, to, datagram)])
        while waiting:
            one = waiting.popleft()
            self.flown.append(one)
            origin, to, datagram = one
            if to not in self.nodes or self.lose(datagram):
                continue
            node = self.nodes[to]
            opened = node.open(origin, datagram, self.clock.now)
            if isinstance(opened, Refused):
                self.refused[opened.reason] += 1
            elif opened.plain:
                self.heard.append((to, opened.peer, opened.plain))
            waiting.extend((to, *caused) for caused in node.pending())

    def beacons(self) -> None:
        """Let every node announce itself to every other."""
        for origin, node in list(self.nodes.items()):
            for to in self.nodes:
                if to != origin:
                    self.carry(origin, to, node.beacon())

    def pass_time(self, seconds: float, step: float = 0.25) -> None:
        """Let time pass, with ticks."""
        end = self.clock.now + seconds
        while self.clock.now < end:
            self.clock.now = min(end, self.clock.now + step)
            for address, node in list(self.nodes.items()):
                node.tick(self.clock.now)
                for to, datagram in node.pending():
                    self.carry(address, to, datagram)

    def talk(self, origin: Address, to: Address, plain: bytes) -> bool:
        """Seal frames for a node and deliver them; whether they were opened, once."""
        datagram = self.nodes[origin].seal(self.nodes[to].node_id, plain, self.clock.now)
        if datagram is None:
            return False
        before = len(self.heard)
        self.carry(origin, to, datagram)
        return self.heard[before:] == [(to, self.nodes[origin].node_id, plain)]


def member(
    network: MadeNetwork, wire: Wire, seed: int, *, identity: Identity | None = None,
    certificate: bytes | None = None, cipher: int = 0, **certified: Any,
) -> KeyedSecurity:  # fmt: skip
    """A security of a node whose certificate the network has just signed."""
    identity = identity or Identity.new(source(1000 + seed))
    own = certificate or network.certificate(identity, name=f"node-{seed}", **certified)
    membership = Membership(
        identity, own, root_key=network.root_key, secret=network.secret, network="home",
        wall=wire.clock.wall,
    )  # fmt: skip
    return KeyedSecurity(membership, random=source(2000 + seed), cipher=cipher)


def two_nodes(network: MadeNetwork, **wired: Any) -> tuple[Wire, Address, Address]:
    """A wire with two nodes that have a session."""
    wire = Wire(**wired)
    first, second = (wire.join(f"10.0.0.{n}", member(network, wire, n)) for n in (1, 2))
    wire.carry(first, second, wire.nodes[first].beacon())
    return wire, first, second
