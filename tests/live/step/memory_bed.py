"""The memory bed: many live nodes in one process, with a network in memory and its own clock.

The same inputs give the same bytes, as in the simulator, but each node is a live one: a state with
one row, a driver, and records that travel as bytes.
"""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.message import EVERYONE, START
from halfway.core.neighbourhood import Neighbourhood
from halfway.live.step.datagram_flow import Flow
from halfway.live.step.node_driver import Driver
from halfway.live.step.node_stepper import Stepper
from halfway.live.step.system_node import SystemNode
from halfway.live.step.timers import Timers
from halfway.live.wire.frames import record_prefix
from halfway.sim.environment.memory import BlankMemory

Fate = Callable[[int, int, int], Sequence[float]]


class BedNode:
    """One node of a memory bed: its driver, and its links."""

    def __init__(
        self,
        bed: "MemoryBed",
        row: int,
        node: SystemNode,
        links: Sequence[int],
        flow: Flow | None = None,
    ) -> None:
        self._bed, self.row, self.up = bed, row, True
        self._blank = BlankMemory(node.state, lambda *_: slice(None))
        ids = bed.node_ids
        own = np.sort(np.array([ids[link] for link in links], np.int32))
        self.stepper = Stepper(
            node,
            given_neighbourhood(
                own, [bed.ids_next_to(int(node_id)) for node_id in own], bed.position_of(row)
            ),
            node_id=int(ids[row]),
            incarnation=0,
            hashes=bed.hashes,
            flow=flow,
        )
        self.driver = Driver(self.stepper, self, bed.timers, ages_in_flight=True)
        self.links = links

    def transmit(self, record: Any, data: bytes) -> None:
        """Transmit a record in the memory bed to one neighbour or to all neighbours, who receive it
        after the delay.
        """
        to = int(record["next"])
        everyone = to == EVERYONE
        self._bed.fly(self, data, self.links if everyone else [self._bed.row_of.get(to, -1)])

    def forget(self) -> None:
        """Lose the memory of a node in the memory bed: its next incarnation begins with the first
        state, and with other random numbers.
        """
        self.stepper.tables.incarnation[0] += 1
        self._blank.clear(0, int(self.stepper.tables.incarnation[0]))

    def report(self, record: Any) -> None:
        """Keep a node's report to its application in the memory bed."""
        self._bed.reports.append((self.row, record.copy()))

    def timer_ran(self) -> None:
        """Do nothing: the memory bed sends each record at once."""

    def count_full(self) -> None:
        """Do nothing: in the memory bed the driver counts what it dropped."""

    def refused(self) -> None:
        """Do nothing: in the memory bed the checks count the refused records."""


class MemoryBed:
    """A network in memory. links[r]: the rows in reach of row r, in ascending order.

    delay_s: of every reception. node_ids: [n] 31 bits. make: a function that returns the node of a
    row. fate: a function of the rows of sender and receiver and the number of their transmissions
    so far; it returns the delays (seconds) of the arriving copies, and () for a loss. Without
    `fate`, the delay is delay_s. positions: [n, 2] of a system whose nodes know their own.
    """

    node_type: type[BedNode] = BedNode

    def __init__(
        self,
        links: Sequence[Sequence[int]],
        make: Callable[[int], SystemNode],
        *,
        node_ids: npt.NDArray[np.int32],
        delay_s: float,
        topics: int,
        fate: Fate | None = None,
        positions: npt.NDArray[np.float64] | None = None,
    ) -> None:
        self._fate: Fate = fate or (lambda *_: (delay_s,))
        self._flights: Counter[tuple[int, int]] = Counter()  # by the rows of both ends
        self.node_ids, self.delay_s, self.links = node_ids, delay_s, links
        self.row_of: Mapping[int, int] = {int(node_id): row for row, node_id in enumerate(node_ids)}
        # A topic has any 64 bits on the wire; here the bits follow from its number.
        self.hashes = np.arange(topics, dtype=np.uint64) + np.uint64(2**40)
        self._positions = positions
        self.timers, self.now = Timers(), 0.0
        self.reports: list[tuple[int, Any]] = []
        self.nodes = [self.node_type(self, row, make(row), links[row]) for row in range(len(links))]

    def ids_next_to(self, node_id: int) -> npt.NDArray[np.int32]:
        """Return the node ids in reach of a node, in ascending order."""
        return np.sort(self.node_ids[list(self.links[self.row_of[node_id]])])

    def position_of(self, row: int) -> tuple[float, ...]:
        """Return x and y of a row of the memory bed, or () if its nodes know no positions."""
        return () if self._positions is None else tuple(self._positions[row].tolist())

    def post(self, at: float, row: int, kind: int, topic: int, arg: int, event: int) -> None:
        """Post a command to a node of the memory bed, due at a time (seconds); it is lost if the
        node is down then.
        """
        self.timers.push(at, self._command, (self.nodes[row], kind, topic, arg, event))

    def set_up(self, row: int, up: bool, *, forgets: bool = False) -> None:
        """Take a node of the memory bed down, or up again: what waits at it is void. Its memory
        stays, or is lost.
        """
        node = self.nodes[row]
        if node.up != up:
            node.up = up
            if forgets and up:
                node.forget()
            node.driver.restart()
            if up and node.stepper.node.kinds.starts:
                self.timers.push(self.now, self._command, (node, int(START), -1, 0, -1))

    def run(self, until: float) -> None:
        """Run the timers and arrivals of the memory bed up to a time (seconds, inclusive)."""
        while self.timers.next_at() <= until:
            self.now = self.timers.next_at()
            self.timers.run_next()
        self.now = until

    def fly(self, sender: BedNode, data: bytes, to: Sequence[int]) -> None:
        """Let a transmission in the memory bed arrive at rows in the sender's reach; other rows do
        not receive it.
        """
        for row in to:
            if row in sender.links:
                link = sender.row, row
                for delay_s in self._fate(*link, self._flights[link]):
                    self.timers.push(self.now + delay_s, self._arrive, (sender, data, row))
                self._flights[link] += 1

    def _command(self, now: float, command: tuple[BedNode, int, int, int, int]) -> None:
        node, kind, topic, arg, event = command
        if node.up:
            node.driver.command(now, kind, topic, arg, event)

    def _arrive(self, now: float, flight: tuple[BedNode, bytes, int]) -> None:
        _, data, row = flight
        topics, at, _, _ = record_prefix(data)
        numbers = [topic - 2**40 for topic in topics]
        if self.nodes[row].up:
            self.nodes[row].driver.receive(now, data[at:], numbers)


def given_neighbourhood(
    own: npt.NDArray[np.int32],
    reported: Sequence[npt.NDArray[np.int32]],
    position: Sequence[float] = (),
) -> Neighbourhood:
    """Return the neighbourhood that the memory bed gives one live node: its own list, the list of
    each neighbour, and x and y of the node if it knows its position.
    """
    lists = [own, *reported]
    ends = np.cumsum([len(neighbours) for neighbours in lists]).astype(np.uint32)
    place = np.full(int(ends[-1]), -1, np.int32)
    place[: len(own)] = np.arange(1, len(own) + 1)
    x, y = np.full((2, len(lists) if position else 0), np.nan)
    if position:
        x[0], y[0] = position
    firsts = np.concatenate((np.zeros(1, np.uint32), ends[:-1]))
    return Neighbourhood(firsts, ends, np.concatenate(lists), place, x, y)
