"""The settings of live nodes, chosen by a person at their start."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from halfway.core.hello.sending import HELLO_PERIOD_S
from halfway.core.options import Value
from halfway.live.addresses import LOOPBACK
from halfway.live.limits import DEFAULT, Limits
from halfway.live.security import Address
from halfway.live.systems.face import BROKER, FOUNDER
from halfway.live.systems.live_systems import (
    DEFAULT_SYSTEM,
    check_spreads_events,
    check_system,
    most_incarnation,
    roles_of,
    uses_position,
)
from halfway.live.systems.positions import Position, checked_position
from halfway.problem import Problem

ANY_INTERFACE = "0.0.0.0"
# Administratively scoped [RFC 2365]; the development network uses it on loopback only.
GROUP: Address = ("239.255.71.17", 4711)
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,62}")
_MOST_NODES = 300
_DEVELOPMENT = "development"
_CLOCK_INCARNATION = 2**32 - 1  # a system with room for it needs no folder that counts starts


@dataclass(frozen=True)
class Settings:
    """The settings of the nodes of one process. Raises Problem for a value out of range.

    nodes: number of nodes in this process, which have about `degree` links among themselves.
    position: x and y of the node in metres, for a system whose nodes need it. Several nodes then
    have the places and the links of a grid, with the first node at this position. role: role of all
    nodes, for a system whose nodes have roles; "" is its default. With "founder", only the first
    node is the founder. peers: "host:port" of other processes. certificate, key: the two files of a
    node with keys. secret: the file with the secret of a network without certificates; it needs a
    key too. Without keys the network is a development network, on loopback. network: its name; ""
    is "development", or the name in the certificate. revoked: a revocation
    list, read again after a change. state: a folder for the journal and other memory across starts.
    period_s: seconds between hellos. compile: "background", "now" or "never". seed: None for a new
    one at each start.
    """

    system: str = DEFAULT_SYSTEM
    options: Mapping[str, Value] = field(default_factory=dict)
    name: str = ""
    network: str = ""
    nodes: int = 1
    degree: int = 6
    position: Position | None = None
    role: str = ""
    host: str = LOOPBACK
    port: int = 0
    peers: Sequence[str] = ()
    discover: bool = True
    certificate: Path | None = None
    key: Path | None = None
    secret: Path | None = None
    revoked: Path | None = None
    state: Path | None = None
    period_s: float = HELLO_PERIOD_S
    compile: str = "background"
    seed: int | None = None
    trace: int = 0  # records of each node that wait to be written
    limits: Limits = DEFAULT

    def __post_init__(self) -> None:
        check_system(self.system)
        for name, low, high in (("nodes", 1, _MOST_NODES), ("port", 0, 65_535), ("degree", 1, 64)):
            value = getattr(self, name)
            if not low <= value <= high:
                raise Problem(f"{name} = {value}: expected {low} to {high}")
        if self.port and self.port + self.nodes - 1 > 65_535:
            raise Problem(
                f"port = {self.port}: expected at most {65_536 - self.nodes}, because {self.nodes} "
                f"nodes use {self.nodes} ports"
            )
        if not 0.05 <= self.period_s <= 60.0:
            raise Problem(f"period_s = {self.period_s:g}: expected 0.05 to 60 s")
        for name, value in (("name", self.name), ("network", self.network)):
            if value and not _NAME.fullmatch(value):
                what = f"{name} = '{value}': expected 1 to 63 letters, digits, _ . and -"
                raise Problem(what, remedy="begin with a letter or a digit")
        self._check_position()
        self._check_role()
        self._check_keys()
        for peer in self.peers:
            address_of(peer)

    def _check_position(self) -> None:
        own, system = self.position, self.system
        if own is None and self.nodes == 1 and uses_position(system):
            what = f"position: expected two numbers in metres, because a node of {system} must know"
            raise Problem(f"{what} its place", remedy="give --position X,Y")
        if own is not None:
            x, y = checked_position(own)
            if not uses_position(system):
                what = f"position = {x:g},{y:g}: expected no position for a node of {system}"
                raise Problem(what, remedy="leave out --position, or use --system georendezvous")

    def _check_role(self) -> None:
        roles = roles_of(self.system)
        if self.role and not roles:
            what = f"role = {self.role}: expected no role for a node of {self.system}"
            raise Problem(what, remedy="leave out --role, or use --system siena")
        if self.role and self.role not in roles:
            expected = f"{', '.join(roles[:-1])} or {roles[-1]}"
            raise Problem(f"role = {self.role}: expected {expected}")

    def role_of(self, place: int) -> str:
        """Return the role of one of the nodes in the settings. A tree has one founder, so
        the other nodes of the process are brokers.
        """
        return BROKER if self.role == FOUNDER and place > 0 else self.role

    def _check_keys(self) -> None:
        option = "certificate" if self.certificate else "secret" if self.secret else ""
        if self.certificate and self.secret:
            what = "certificate and secret are both given: expected only one of the two"
            raise Problem(what, remedy="give either --certificate or --secret")
        if bool(option) != bool(self.key):
            has, missing = ("key", "certificate") if self.key else (option, "key")
            raise Problem(f"{has}: expected --{missing} as well", remedy=f"give --{missing} FILE")
        if option and self.nodes > 1:
            what = f"nodes = {self.nodes}: expected 1 for a node with a {option}"
            raise Problem(
                what, remedy="start one process for each node, because keys belong to one node"
            )
        if option and self.state is None and most_incarnation(self.system) < _CLOCK_INCARNATION:
            what = f"state: expected a folder, in which a node of {self.system} with keys"
            raise Problem(f"{what} counts its starts", remedy="give --state DIR")
        if self.revoked and not self.certificate:
            what = f"revoked = {self.revoked}: expected a certificate as well"
            raise Problem(
                what, remedy="give --certificate FILE, because only certificates can be revoked"
            )

    def check_events(self, for_what: str) -> None:
        """Raise Problem if the settings choose a failure detector, and an option or a command needs
        the events of live nodes.
        """
        check_spreads_events(self.system, for_what=for_what)

    @property
    def static(self) -> list[Address]:
        """The addresses of the static peers in the settings of live nodes."""
        return [address_of(peer) for peer in self.peers]

    @property
    def has_keys(self) -> bool:
        """Whether the settings give the live nodes keys. Nodes without keys belong to the
        development network.
        """
        return self.key is not None

    @property
    def network_name(self) -> str:
        """The name in the settings of a network without certificates. A certificate has its own."""
        return self.network or _DEVELOPMENT

    @property
    def hash_key(self) -> bytes:
        """The key of the topic hashes in the settings of a development network; with keys it is a
        secret.
        """
        return hashlib.blake2b(b"topics " + self.network_name.encode(), digest_size=32).digest()

    @property
    def network_id(self) -> int:
        """The id of the network in the settings of live nodes: 32 bits, different for each
        development network.
        """
        return int.from_bytes(hashlib.blake2b(self.network_name.encode(), digest_size=4).digest())


def role_alone(system: str) -> str:
    """Return the role in the settings of live nodes that are a whole network: their first node
    founds the overlay of a system with roles.
    """
    return FOUNDER if roles_of(system) else ""


def address_of(peer: str) -> Address:
    """Return the address of a static peer in the settings of live nodes, from "host:port". Raises
    Problem for anything else.
    """
    host, colon, port = peer.rpartition(":")
    if not colon or not host or not port.isdigit() or not 0 < int(port) < 2**16:
        what = f"peer = '{peer}': expected HOST:PORT"
        raise Problem(what, remedy="write the address as 127.0.0.1:4711")
    return host.strip("[]"), int(port)
