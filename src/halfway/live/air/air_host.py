"""The host of live nodes on the air: all in one process, each with a socket in its own namespace.

The air is sealed, so the nodes need no keys. Nodes without keys accept datagrams of the air only.
Nodes with keys find each other over the same discovery group, and then open sessions.
"""

import asyncio
import contextlib
import socket
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfway.core.hello.sending import HELLO_PERIOD_S
from halfway.core.options import Value
from halfway.live.air.air import Air
from halfway.live.air.air_keys import AirKeys
from halfway.live.air.wiring import SUBNET, Pair
from halfway.live.drops import Drop
from halfway.live.limits import DEFAULT, Limits
from halfway.live.link.endpoint import DRAIN, bound, group_socket, send_to_groups
from halfway.live.plain import Plain
from halfway.live.runtime.journal_start import journal_in, keep_in
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.runtime.node_identity import drawn_id, faced
from halfway.live.runtime.settings import GROUP
from halfway.live.security import Address, Security
from halfway.live.step.scheduler import Scheduler

PORT = 4711
LABEL = "no keys, on an air that is sealed"
_NETWORK, _HASH_KEY = 0x0A47, b"halfway air".ljust(32, b"\0")
_POLL_S = 0.02


class AirSettings(NamedTuple):
    """The settings of all nodes on the air.

    compiled: whether they run machine code. state: a folder for the journals of kept events, or
    None. positions: of the nodes, if their system needs positions. keys: of the nodes, or None for
    nodes without keys.
    """

    system: str
    options: Mapping[str, Value] = {}
    period_s: float = HELLO_PERIOD_S
    seed: int = 1
    compiled: bool = True
    log: int = 0  # records of each node that wait for a trace
    limits: Limits = DEFAULT
    state: Path | None = None
    positions: Sequence[tuple[float, float]] = ()
    keys: AirKeys | None = None


class AirHost:
    """The host of live nodes on the air, one in each namespace; use `async with AirHost(air,
    settings)`.

    places: of the nodes on the air that this process hosts; None: all. Other processes, forked from
    this one, may host the others. The methods know a node by its index in `nodes`. Raises Problem
    for a system that does not run live, or for an option that is not allowed.
    """

    def __init__(
        self, air: Air, settings: AirSettings, places: Sequence[int] | None = None
    ) -> None:
        self.air, self.settings = air, settings
        self.places = range(air.n) if places is None else places
        self.nodes: list[MeshNode] = []
        self.scheduler: Scheduler
        self._journals: list[Callable[[], Awaitable[None]]] = []  # close each of them
        self._groups: list[socket.socket] = []
        self.group_received = 0  # datagrams to the discovery group
        self._replaced = Counter[str]()  # datagrams of nodes that were replaced

    async def __aenter__(self) -> "AirHost":
        """Start all nodes of the air host."""
        self.scheduler = Scheduler()
        try:
            for index in range(len(self.places)):
                self.nodes.append(self._made(index, incarnation=1))
                self._remember(index)
                self._listen(index)
            for node in self.nodes:
                node.start()
                if node.kept is not None:
                    node.kept.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop all nodes of the air host. A second call has no effect."""
        # The last part closes first. Each part closes, also after an error of another part.
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(self.scheduler.close)
            for close in reversed(self._journals):
                stack.push_async_callback(close)
            for node in reversed(self.nodes):
                stack.callback(node.stop)
            for sock in self._groups:
                asyncio.get_running_loop().remove_reader(sock.fileno())
                sock.close()
            self._groups = []

    async def quiet(self, most_s: float) -> bool:
        """Stop the links of all nodes of the air host, and wait until no datagram is on its way.

        Return False if a datagram is still on its way after most_s seconds. The nodes say goodbye,
        and the air loses nothing from then on, so that every node hears the goodbyes. Afterwards
        the account of the datagrams is exact.
        """
        self.air.set_loss(0.0)
        for node in self.nodes:
            node.links.stop()
        before, begun = self.datagrams(), self.scheduler.now()
        while self.scheduler.now() - begun < most_s:
            await asyncio.sleep(max(0.3, 2.0 * self.air.longest_delay_s))
            now = self.datagrams()
            if now == before:
                return True
            before = now
        return False

    def datagrams(self) -> dict[str, int]:
        """Return how many datagrams all nodes of the air host sent and received, and how many their
        sockets lost by drops of the kernel.
        """
        found = Counter(self._replaced)
        for node in self.nodes:
            found.update(datagrams_of(node))
        return dict(found) | {"received by groups": self.group_received}

    async def linked(self, pairs: Iterable[Pair], most_s: float) -> float:
        """Wait until all pairs of the air host's nodes are neighbours at both ends; return the
        seconds, or inf after most_s seconds.
        """
        begun = self.scheduler.now()
        waiting = {pair for pair in pairs if not self._are_linked(pair)}
        while waiting:
            if self.scheduler.now() - begun > most_s:
                return float("inf")
            await asyncio.sleep(_POLL_S)
            waiting = {pair for pair in waiting if not self._are_linked(pair)}
        return self.scheduler.now() - begun

    def stun(self, index: int) -> None:
        """Drop all waiting records and the entry of a node of the air host, as a crash does; the
        air must cut the node off as well.
        """
        self.nodes[index].driver.restart()
        self.nodes[index].entry.crash()

    def wake(self, index: int) -> None:
        """Bring a node of the air host back from a crash, with its memory. Its system starts as at
        the start of the node.
        """
        self.nodes[index].entry.start()
        self.nodes[index].links.flush()

    def replace(self, index: int) -> MeshNode:
        """Bring a node of the air host back without its memory; return the node in its next
        incarnation.

        The air still cuts the node off, so that no node hears the end of the old incarnation.
        """
        old = self.nodes[index]
        old.stop()
        self._replaced.update(datagrams_of(old))
        group = self._groups[index]
        asyncio.get_running_loop().remove_reader(group.fileno())
        self.nodes[index] = self._made(index, old.identity.incarnation + 1)
        self._hear_group(index, group)
        self.nodes[index].start()
        return self.nodes[index]

    def _remember(self, index: int) -> None:
        """Give a node of the air host a journal, if the nodes have a folder."""
        if self.settings.state is not None:
            folder = self.settings.state / str(self.places[index])
            journal = journal_in(folder)
            self._journals.append(journal.close)
            keep_in(journal, self.nodes[index], self.scheduler)

    def _are_linked(self, pair: Pair) -> bool:
        one, other = (self.nodes[index] for index in pair)
        return other.node_id in one.links.table.neighbours()

    def _made(self, index: int, incarnation: int) -> MeshNode:
        settings, place = self.settings, self.places[index]
        draw = np.random.default_rng([settings.seed, place, incarnation])
        security, hash_key = self._security(place)
        face, identity = faced(
            settings.system, settings.options, settings.limits, hash_key, node_id=security.node_id,
            seed=int(draw.integers(2**63)), name=str(place), incarnation=incarnation,
            period_s=settings.period_s,
            position=settings.positions[place] if settings.positions else None,
        )  # fmt: skip
        with contextlib.ExitStack() as unused:
            sock = self._socket(place)
            unused.callback(sock.close)
            node = MeshNode(
                face, identity, security, sock, self.scheduler, settings.limits, settings.log
            )
            unused.pop_all()
        node.links.groups = [GROUP]
        if settings.compiled:
            node.stepper.compile()
        return node

    def _security(self, place: int) -> tuple[Security, bytes]:
        """Return the security of a node of the air host, and the key of topic hashes."""
        seed, keys = self.settings.seed, self.settings.keys
        if keys is None:
            node_id = drawn_id(seed, place)
            return Plain(node_id, _NETWORK, trusted=_is_on_air, label=LABEL), _HASH_KEY
        keyed = keys.security(place)
        return keyed, keyed.membership.topic_key

    def _socket(self, place: int) -> socket.socket:
        """Return the socket of a node of the air host, in the node's namespace."""
        address = self.air.address(place)
        with self.air.nodes[place].inside(), contextlib.ExitStack() as unused:
            sock = bound(address, PORT)
            unused.callback(sock.close)
            send_to_groups(sock, address)
            sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
            unused.pop_all()
        return sock

    def _listen(self, index: int) -> None:
        place = self.places[index]
        with self.air.nodes[place].inside():
            group = group_socket(GROUP, self.air.address(place))
        self._groups.append(group)
        self._hear_group(index, group)

    def _hear_group(self, index: int, group: socket.socket) -> None:
        links = self.nodes[index].links

        def heard() -> None:
            for _ in range(DRAIN):
                try:
                    datagram, address = group.recvfrom(2048)
                except OSError:
                    break
                self.group_received += 1
                links.datagram(address[:2], datagram)
            links.flush()

        asyncio.get_running_loop().add_reader(group.fileno(), heard)


def datagrams_of(node: MeshNode) -> dict[str, int]:
    """Return how many datagrams a live node in its namespace on the air sent and received, and how
    many its socket lost by drops of the kernel.
    """
    node.endpoint.count_kernel_drops()
    dropped = node.drops.by_reason().get(Drop.KERNEL, 0)
    return {"sent": node.endpoint.sent, "received": node.endpoint.received, "no room": dropped}


def _is_on_air(address: Address) -> bool:
    return address[0].startswith(SUBNET)
