"""One run of a scenario by real nodes: the world moves, and applications publish and receive."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np

from halfway.live.air.air import Air
from halfway.live.air.air_host import AirHost
from halfway.live.mesh import Event
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.trace.folder import TraceFolder
from halfway.live.trace.recorder import Recorder
from halfway.problem import Problem
from halfway.sim.metrics.deliveries import DeliveryAccounting
from halfway.testbed.course import Course, CourseStep
from halfway.testbed.testbed_metrics import RunMeasures, of_deliveries
from halfway.world.workload.demand import Demand
from halfway.world.workload.named_roles import ALWAYS

_BATCH, _NUMBER_BYTES = 64, 8
_LINKED_PERIODS = 12  # hellos within which the neighbours at the start must be found
_SHOW_EVERY_S = 0.5
_QUIET_S = 5.0  # until nothing is on its way


class Keeping(NamedTuple):
    """The folders for the history of the nodes: records that replay, or growing Parquet files."""

    records: Path | None = None
    traces: Path | None = None


NOTHING_KEPT = Keeping()


class LiveProgress(NamedTuple):
    """The progress of a live run."""

    at: float
    seconds: float
    published: int
    delivered: int


class LiveResult(NamedTuple):
    """The result of a live run. late_s: the longest delay of a publication by this machine."""

    measured: RunMeasures
    linked_s: float  # until all neighbours of the start knew each other
    late_s: float
    air: dict[str, int]  # datagrams by their fate
    queue: dict[str, int]
    drops: dict[str, int]  # of all nodes, by reason
    datagrams: dict[str, int]
    security: str  # the label of the nodes' security


class LiveRun:
    """A live run on an air.

    on_progress: called each half second. keeping: the folders for the history of the nodes. Raises
    Problem if the neighbours do not find each other.
    """

    def __init__(
        self,
        air: Air,
        host: AirHost,
        course: Course,
        demand: Demand,
        *,
        seconds: float,
        on_progress: Callable[[LiveProgress], None],
        keeping: Keeping = NOTHING_KEPT,
    ) -> None:
        self._air, self._host, self._course = air, host, course
        self._demand, self._seconds, self._on_progress = demand.begun_again(), seconds, on_progress
        events = max(getattr(demand, "events", 0), 1024)
        self._deliveries = DeliveryAccounting(self._demand, air.n, events)
        self._arrived: list[tuple[int, int, float, int]] = []  # event, row, time, hops
        self._keeping, self._begin, self._late_s = keeping, 0.0, 0.0
        self._up = np.ones(air.n, bool)
        self._lost_counts = Counter[str]()  # of nodes that were replaced
        self._lost_drops = Counter[str]()

    async def run(self) -> LiveResult:
        """Run the scenario by real nodes in real time."""
        host, first = self._host, self._course.pairs()
        self._air.set_links(first)
        period_s = host.settings.period_s
        linked_s = await host.linked(first, _LINKED_PERIODS * period_s)
        if linked_s == float("inf"):
            what = f"neighbours do not find each other within {_LINKED_PERIODS} hellos"
            raise Problem(what, remedy="use a smaller network, or a longer hello_period_s")
        with self._recorded():
            self._begin = host.scheduler.now()
            for row in range(self._air.n):
                self._start_applications(row, 0.0)
            async with asyncio.TaskGroup() as group:
                for work in (self._move(), self._publish(), self._report()):
                    group.create_task(work)
        self._settle()
        await host.quiet(_QUIET_S)
        return self._result(linked_s)

    async def _move(self) -> None:
        """Let the air follow the world of a live run."""
        for step in self._course.steps(self._seconds):
            await self._until(step.at)
            self._up = step.up
            self._turn(step, came_up=False)
            await asyncio.to_thread(self._air.set_links, step.pairs)
            self._turn(step, came_up=True)

    def _turn(self, step: CourseStep, *, came_up: bool) -> None:
        for turn in step.turns:
            if turn.is_up and not turn.keeps_memory and not came_up:
                old = self._host.nodes[turn.row]
                self._lost_counts.update(old.counts)
                self._lost_drops.update(old.drops.by_reason())
                self._host.replace(turn.row)
                self._start_applications(turn.row, self._at())
            elif turn.is_up and turn.keeps_memory and came_up:
                self._host.wake(turn.row)
            elif not turn.is_up and not came_up:
                self._host.stun(turn.row)

    async def _publish(self) -> None:
        """Publish the due publications of the demand in a live run."""
        while self._demand.next_at() < self._seconds:
            publications = self._demand.next_publications(self._seconds, _BATCH)
            for k in range(len(publications.t)):
                await self._until(float(publications.t[k]))
                self._settle()
                self._late_s = max(self._late_s, self._at() - float(publications.t[k]))
                if self._deliveries.enter_publication(k, publications, self._up, None):
                    size = _NUMBER_BYTES if publications.size is None else int(publications.size[k])
                    payload = int(publications.event[k]).to_bytes(_NUMBER_BYTES).ljust(size, b"\0")
                    node = self._host.nodes[int(publications.row[k])]
                    await node.publish(topic_text(int(publications.topic[k])), payload)
        await self._until(self._seconds)

    async def _report(self) -> None:
        while (at := self._at()) < self._seconds:
            count = self._deliveries
            self._on_progress(LiveProgress(at, self._seconds, count.published, count.delivered))
            await asyncio.sleep(_SHOW_EVERY_S)

    def _start_applications(self, row: int, at: float) -> None:
        """Let the applications of a real node subscribe, and take up the role of publishers."""
        node, demand = self._host.nodes[row], self._demand
        for topic in range(demand.topics):
            if row in demand.subscribers[topic]:
                begin, end = demand.periods.get((row, topic), ALWAYS)
                if end > at:
                    self._subscribe_at(node, row, topic, max(begin, at), end)
        for topic, rows in enumerate(demand.publishers):
            if row in rows:
                begin = demand.publishing_periods.get((row, topic), ALWAYS)[0]
                role = node.own_events.become_publisher
                if begin <= at:
                    role(topic_text(topic))
                else:
                    self._host.scheduler.after(
                        begin - at, lambda _now, made: made[0](made[1]), (role, topic_text(topic))
                    )

    def _subscribe_at(self, node: MeshNode, row: int, topic: int, begin: float, end: float) -> None:
        """Let a real node subscribe at one time of the live run, and unsubscribe at another one."""

        def arrived(event: Event) -> None:
            number = int.from_bytes(event.payload[:_NUMBER_BYTES])
            self._arrived.append((number, row, self._at(), event.hops))

        def subscribe(_now: float, _argument: object) -> None:
            subscription = node.subscribe(topic_text(topic), arrived)
            if end < self._seconds:
                self._host.scheduler.after(
                    end - self._at(), lambda _now, handle: node.unsubscribe(handle), subscription
                )

        if begin <= self._at():
            subscribe(0.0, None)
        else:
            self._host.scheduler.after(begin - self._at(), subscribe, None)

    def _settle(self) -> None:
        """Enter the arrived events of a live run of the testbed into the accounting, before the
        next publication.
        """
        arrived, self._arrived = self._arrived, []
        if arrived:
            event, row, at, hops = zip(*arrived, strict=True)
            self._deliveries.enter_notifications(
                np.array(event, np.int64),
                np.array(row, np.int64),
                np.array(at),
                np.array(hops, np.int64),
            )
        self._deliveries.settle(self._at())

    def _result(self, linked_s: float) -> LiveResult:
        counts, drops = self._lost_counts, self._lost_drops
        datagrams = self._host.datagrams()
        for node in self._host.nodes:
            counts.update(node.counts)
            drops.update(node.drops.by_reason())
        measured = of_deliveries(self._deliveries, counts["transmissions"])
        return LiveResult(
            measured,
            linked_s,
            self._late_s,
            air=self._air.counts(),
            queue={},
            drops=dict(drops),
            datagrams=datagrams,
            security=self._host.nodes[0].security.label,
        )

    @contextmanager
    def _recorded(self) -> Iterator[None]:
        """Record every node of the testbed, or write the traces of all nodes, if a folder
        is given.
        """
        records, traces = self._keeping
        writers: list[Recorder | TraceFolder] = []
        if records is not None:
            writers += [Recorder(node, records / f"{node.name}.trace") for node in self._host.nodes]
        elif traces is not None:
            writers.append(TraceFolder(self._host.nodes, traces))
        yield
        for writer in writers:
            writer.close()

    def _at(self) -> float:
        """Return the time of the live run, in seconds."""
        return self._host.scheduler.now() - self._begin

    async def _until(self, at: float) -> None:
        wait = at - self._at()
        if wait > 0.0:
            await asyncio.sleep(wait)


def topic_text(topic: int) -> str:
    """Return the text that a live run of the testbed gives a topic of the workload."""
    return f"topic/{topic}"
