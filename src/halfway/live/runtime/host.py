"""The host of live nodes: one process, one event loop, one or many nodes."""

import asyncio
import contextlib
import logging
import os
import socket
import subprocess
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from halfway.live.addresses import LOOPBACK, is_loopback
from halfway.live.events.bodies import SharedBodies
from halfway.live.journal.node_journal import NodeJournal
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.link.endpoint import DRAIN, bound, group_socket, send_to_groups
from halfway.live.plain import Plain
from halfway.live.runtime.compile_process import started
from halfway.live.runtime.journal_start import journal_in, keep_in
from halfway.live.runtime.key_files import RevocationFile, keyed_security
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.runtime.node_identity import drawn_id, faced, next_incarnation, own_id
from halfway.live.runtime.settings import ANY_INTERFACE, GROUP, Settings
from halfway.live.security import Address, Security
from halfway.live.step.scheduler import Scheduler
from halfway.live.systems.face import NodeParameters
from halfway.live.systems.live_systems import face_of, most_incarnation
from halfway.live.systems.positions import NodeGrid, Position, checked_position
from halfway.problem import Problem

_POLL_S = 0.2
_LOG = logging.getLogger("halfway.live")


class Host:
    """The host of all live nodes of a process. Use `async with Host(settings) as host`.

    Nodes without a certificate belong to the development network.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.nodes: list[MeshNode] = []
        self.journals: list[NodeJournal] = []  # of the nodes, where they have a folder
        # Further entries in the status of the process, such as "mqtt".
        self.sections: dict[str, Callable[[], Mapping[str, Any]]] = {}
        self._bodies = SharedBodies(settings.limits.bodies, settings.limits.body_bytes)
        self._sockets: list[socket.socket] = []
        self._group: socket.socket | None = None
        self._task: asyncio.Task[None] | None = None
        self._compiler: subprocess.Popen[bytes] | None = None
        self._grid: NodeGrid | None = None

    async def __aenter__(self) -> "Host":
        """Start all nodes of the host. Raises Problem, and then leaves no node running."""
        self.scheduler = Scheduler()
        try:
            self._grid = self._grid_of_nodes()
            self._open_sockets()
            for place, sock in enumerate(self._sockets):
                self.nodes.append(self._node(place, sock))
                self._remember(place)
            self._link()
            self._compile()
            for node in self.nodes:
                node.start()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *_: Any) -> None:
        await self.close()

    async def close(self) -> None:
        """Stop all nodes of the host, and close all that is open. A second call has no effect."""
        # The last part closes first. Each part closes, also after an error of another part.
        async with contextlib.AsyncExitStack() as stack:
            stack.callback(self.scheduler.close)
            stack.callback(self._close_group)
            for sock in self._sockets:  # a node closes its socket itself, if the node was made
                stack.callback(sock.close)
            for journal in reversed(self.journals):
                stack.push_async_callback(journal.close)
            for node in reversed(self.nodes):
                stack.callback(node.stop)
            stack.push_async_callback(self._end_compiler)

    async def _end_compiler(self) -> None:
        """End the process that compiles for the host, and the task that waits for it."""
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task
            self._task = None
        if self._compiler is not None and self._compiler.poll() is None:
            self._compiler.kill()
            self._compiler.wait()

    def _close_group(self) -> None:
        if self._group is not None:
            asyncio.get_running_loop().remove_reader(self._group.fileno())
            self._group.close()
            self._group = None

    def move(self, node: MeshNode, position: Position) -> None:
        """Move a node of the host, which has a position, to another one. Raises Problem."""
        x, y = checked_position(position)
        if node.links.table.position is None:
            what = f"position = {x:g},{y:g}: a node of {self.settings.system} has no position"
            raise Problem(what, remedy="choose a node that started with --position")
        node.face.check_position((x, y))
        node.links.table.move(x, y)

    def start_kept_events(self) -> None:
        """Start the kept events of the host's nodes, after the subscriptions are restored."""
        for node in self.nodes:
            if node.kept is not None:
                node.kept.start()

    def _remember(self, place: int) -> None:
        """Give a node of the host its journal, if the nodes have a folder and spread events."""
        if self.settings.state is not None and self.nodes[place].members is None:
            folder = self.settings.state / (f"journal-{place}" if place else "journal")
            journal = journal_in(folder)
            self.journals.append(journal)
            keep_in(journal, self.nodes[place], self.scheduler)
            for problem in journal.problems:
                _LOG.warning("journal: %s", problem)

    @property
    def is_compiled(self) -> bool:
        """Whether all nodes of the host run machine code."""
        return all(node.stepper.compiled for node in self.nodes)

    def _open_sockets(self) -> None:
        settings = self.settings
        if not settings.has_keys and not is_loopback((settings.host, 0)):
            what = f"host = {settings.host}: the development network has no keys"
            raise Problem(what, remedy=f"use {LOOPBACK}, or make a network with `halfway net new`")
        for k in range(settings.nodes):
            self._sockets.append(bound(settings.host, settings.port + k if settings.port else 0))

    def _node(self, place: int, sock: socket.socket) -> MeshNode:
        settings, seed = self.settings, self.settings.seed
        security = self._security(place)
        own_name, hash_key = settings.name, settings.hash_key
        if isinstance(security, KeyedSecurity):
            own_name, hash_key = security.membership.own.name, security.membership.topic_key
        own_seed = int.from_bytes(os.urandom(8)) if seed is None else seed * 1000 + place
        name = own_name or f"n{security.node_id % 10_000:04d}"
        face, identity = faced(
            settings.system, settings.options, settings.limits, hash_key,
            node_id=security.node_id, seed=own_seed % 2**63, period_s=settings.period_s,
            name=name if settings.nodes == 1 else f"{name}-{place}",
            incarnation=next_incarnation(
                settings.state, place, most_incarnation(settings.system)
            ),
            position=None if self._grid is None else self._grid.position(place),
            role=settings.role_of(place),
        )  # fmt: skip
        node = MeshNode(
            face, identity, security, sock, self.scheduler, settings.limits, settings.trace
        )
        if settings.nodes > 1:
            node.events.bodies.shared = self._bodies
        return node

    def _grid_of_nodes(self) -> NodeGrid | None:
        """Return the grid in which the nodes of the host stand, if they need positions."""
        own = self.settings
        face = face_of(own.system, own.options, NodeParameters(0, 0, 0, own.limits))
        return face.grid(own.nodes, own.position)

    def _security(self, place: int) -> Security:
        """Return the security of one of the host's nodes: its keys, or none on the development
        network.
        """
        settings, seed = self.settings, self.settings.seed
        if not settings.has_keys:
            node_id = own_id(settings.state, place) if seed is None else drawn_id(seed, place)
            return Plain(node_id, settings.network_id)
        keyed = keyed_security(settings)
        if settings.revoked is not None:
            RevocationFile(settings.revoked, keyed, self.scheduler, settings.period_s)
        return keyed

    def _link(self) -> None:
        """Give each node of the host its static peers; only the first node searches other
        processes.
        """
        addresses: list[Address] = [node.endpoint.address for node in self.nodes]
        for place, others in enumerate(self._pairs(len(addresses))):
            self.nodes[place].links.static = [addresses[k] for k in others]
        first = self.nodes[0]
        first.links.static = [*first.links.static, *self.settings.static]
        if not self.settings.discover:
            return
        try:
            self._group = group_socket(GROUP, self.settings.host)
            if self.settings.host != ANY_INTERFACE:
                send_to_groups(self._sockets[0], self.settings.host)
        except OSError as error:
            self._close_group()
            _LOG.warning(
                "multicast discovery does not work: %s; name peers with --peer", error.strerror
            )
            return
        first.links.groups = [GROUP]
        asyncio.get_running_loop().add_reader(self._group.fileno(), self._heard, first)

    def _pairs(self, n: int) -> list[list[int]]:
        if self._grid is None:
            return ring_with_chords(n, self.settings.degree)
        return self._grid.links()

    def _heard(self, first: MeshNode) -> None:
        assert self._group is not None
        for _ in range(DRAIN):
            try:
                datagram, address = self._group.recvfrom(2048)
            except OSError:
                break
            first.links.datagram(address[:2], datagram)
        first.links.flush()

    def _compile(self) -> None:
        """Change the nodes of the host to machine code: now, after another process has compiled it,
        or never.
        """
        when = self.settings.compile
        if when == "never":
            return
        if when == "now" or self.nodes[0].stepper.is_stored():
            self._change_over()
            return
        self._compiler = started(self.settings.system, self.settings.options)
        self._task = asyncio.create_task(self._wait_for_compiler(self._compiler))

    async def _wait_for_compiler(self, compiler: "subprocess.Popen[bytes]") -> None:
        while compiler.poll() is None:
            await asyncio.sleep(_POLL_S)
        # Without a cache folder another process cannot help: the nodes stay interpreted.
        if compiler.returncode == 0 and self.nodes[0].stepper.is_stored():
            self._change_over()
            _LOG.info("%s now runs as machine code", self.settings.system)
        else:
            _LOG.warning("%s stays interpreted: it could not be compiled", self.settings.system)

    def _change_over(self) -> None:
        for node in self.nodes:
            node.stepper.compile()


def ring_with_chords(n: int, degree: int) -> list[list[int]]:
    """Return the links among the n nodes of a host: a ring plus random chords, with mean degree
    about `degree`.
    """
    links: list[set[int]] = [set() for _ in range(n)]
    wanted = [(k, (k + 1) % n) for k in range(n)]
    random = np.random.default_rng(n)
    wanted += [tuple(random.integers(n, size=2).tolist()) for _ in range(n * (degree - 2) // 2)]
    for a, b in wanted:
        if a != b:
            links[a].add(b)
            links[b].add(a)
    return [sorted(ends) for ends in links]
