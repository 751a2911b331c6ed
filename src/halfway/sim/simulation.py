"""`Simulation`: the run of any system on any network, message by message."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.adapters.commands import Commands, commands, part
from halfway.adapters.interface import System
from halfway.adapters.registry import named
from halfway.core.compiler.lent import Lender, lent
from halfway.core.message import START
from halfway.problem import Problem
from halfway.sim.engine import loop
from halfway.sim.engine.calendar_queue.operations import peek
from halfway.sim.engine.endless_loop import InstantLimit
from halfway.sim.engine.memory_limit import with_capacity
from halfway.sim.engine.state import new_log
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.hello_exchange import SentHellos, neighbours_of
from halfway.sim.environment.memory import VolatileMemory
from halfway.sim.environment.mobility import Motion
from halfway.sim.environment.run_context import FAULTS, RADIO, check_run, context_of, stream
from halfway.sim.metrics.deliveries import DeliveryAccounting
from halfway.sim.metrics.group_accounting import GroupAccounting
from halfway.sim.metrics.observers import observers_of
from halfway.sim.metrics.outcome import Outcome, RunId
from halfway.sim.metrics.summary import RadioUse, outcome
from halfway.sim.radio.declarations import IdealRadio, Radio
from halfway.sim.radio.energy import Batteries, Energy, Power, checked, spent
from halfway.sim.run_engine import instance_of, remedy_of, run_engine
from halfway.sim.run_log import RunLog
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.workload.payloads import PayloadSizes
from halfway.sim.workload.publications import PublicationFeed
from halfway.sim.workload.start_up import StartUp
from halfway.world.faults import Fault
from halfway.world.graphs.network import Network
from halfway.world.outages import KEPT
from halfway.world.workload.demand import Demand

Condition = Callable[["Simulation"], bool]
_STOP_EVERY = 1_000  # records between two calls of the condition to stop
_INTERRUPT_EVERY = 1_000_000  # records after which an interrupt takes effect
_BATCH = 65_536  # commands posted at once


class Simulation:
    """A simulation of one system on one network: call `run`, then read the outcome.

    >>> from halfway.world.graphs.unit_disk import connected_unit_disk
    >>> from halfway.world.workload.demand import Drawn
    >>> network = connected_unit_disk(300, 0.1, seed=1).network
    >>> demand = Drawn(n=300, subscribers_each=20, events=10, seed=1)
    >>> outcome = Simulation("flooding", network, workload=demand, seconds=30.0).run()
    >>> outcome.delivery_ratio
    1.0

    system: a name (see `halfway list`), or a user's protocol (`halfway.adapters.user_protocol`);
    options: the values of its options. Unlike a scenario, a simulation does not choose the
    acknowledgements by the radio: every option has its default. network: a static network; or
    motion: moving nodes (exactly one of the two). radio: a declaration of
    `halfway.sim.radio.declarations`; default: `IdealRadio()`. faults: crashes, churn, cut links and
    partitions of `halfway.world.faults`. workload: subscriptions and publications, of
    `halfway.world.workload.demand`. seconds: the length of the run. Leave time for events near its
    end to arrive. hello: the hellos by which nodes learn their neighbour lists, if the system reads
    such lists; None: the simulator gives nodes their lists, and nodes learn of new and lost
    neighbours `discovery_delay_s` seconds late (0: at once). seed: the same seed gives the same
    bytes; nodes, faults and losses have separate random streams. window: events in flight at a
    time; all nodes forget older ones. stretch=False skips the shortest paths. nodes: ids, power,
    batteries and clocks; inspection: trace, received records and checks. Raises Problem for every
    error that a user can fix.
    """

    def __init__(
        self,
        system: str | System,
        network: Network | None = None,
        *,
        workload: Demand,
        radio: Radio | None = None,
        motion: Motion | None = None,
        faults: Sequence[Fault] = (),
        seconds: float = 60.0,
        seed: int = 0,
        hello: SentHellos | None = None,
        discovery_delay_s: float = 1.0,
        window: int = 256,
        options: Mapping[str, Any] | None = None,
        stretch: bool = True,
        nodes: NodeSettings | None = None,
        inspection: Inspection | None = None,
    ) -> None:
        check_run(seconds, seed, window)
        nodes, inspection = nodes or NodeSettings(), inspection or Inspection()
        chosen = system if isinstance(system, System) else named(system)
        self.system, self.seconds, self.seed = chosen.name, float(seconds), seed
        self._adapter = chosen.adapter_with(options or {})
        self.demand = workload.begun_again()
        sent = hello if self._adapter.neighbour_knowledge().hops > 0 else None
        self.environment = Environment(
            network, motion, faults, seed=stream(seed, FAULTS), seconds=self.seconds,
            discovery_delay_s=None if sent else discovery_delay_s,
            mortal=nodes.batteries is not None, node_ids=nodes.ids,
        )  # fmt: skip
        self.demand = self.environment.flooded(self.demand)
        context = context_of(
            self.environment, self.demand, faults, seconds=self.seconds, seed=seed, window=window
        )
        self.neighbours = neighbours_of(sent, self._adapter, self.environment, context, seed)
        self.instance = self.neighbours.instance(instance_of(chosen.name, self._adapter, context))
        self.declared, self.power = radio or IdealRadio(), checked(nodes.power or Power())
        self.radio = self._new_radio(RADIO)
        self._batteries = None if nodes.batteries is None else Batteries(nodes.batteries, context.n)
        self._begin_log(window, stretch, inspection)
        payloads = window * self.demand.has_payloads
        self.engine = run_engine(
            self.environment, self.instance, payloads, nodes.clock, inspection, seed
        )
        self._sizes = PayloadSizes(self.engine.payload)
        self._memory = VolatileMemory(self.instance, self.neighbours.forget, context.memory_lost)
        self.at, self._posted_to, self._lend = 0.0, 0.0, Lender()
        self._start_up = self._started()

    def run(
        self, until: float | None = None, *, records: int | None = None,
        stop: Condition | None = None,
    ) -> Outcome:  # fmt: skip
        """Run to the end, a time, a count or a condition; a later call continues it.

        until: see `advance`; the other arguments as well.
        """
        self.advance(until, records=records, stop=stop)
        return self.outcome()

    def advance(
        self, until: float | None = None, *, records: int | None = None,
        stop: Condition | None = None,
    ) -> None:  # fmt: skip
        """Advance as `run` does, without the outcome.

        until: seconds; records that are due at this time are left for the next call (except at the
        end). records: number of delivered records after which no further transmission arrives.
        stop: called every 1,000 records and at the end of each window of the environment.
        """
        if until is not None and not until >= 0.0:
            raise Problem(f"until = {until}: expected 0 s or more")
        target = self.seconds if until is None else min(float(until), self.seconds)
        limit, continues = loop.UNLIMITED if records is None else records, True
        while self.at < target and continues:
            if self.at >= self.environment.at:
                if self._batteries is not None:
                    used_up = self._batteries.used_up(self.energy().total, self.at)
                    self.environment.take_down(used_up)
                self._changes = self.environment.advance(self.environment.window_end(self.seconds))
                self.publications.begin_window(self._changes)
                self.neighbours.begin_window()
                for lost in self._start_up.repeat(self._changes):
                    self.post(lost)
            if self.at >= self._posted_to:
                publications, self._posted_to = self.publications.next_publications(
                    self.environment.at
                )
                self._sizes.enter(self.environment.ids.of[publications.row], publications)
                self.post(self._adapter.publish_commands(publications))
            try:
                continues = self._run_piece(min(target, self._posted_to), limit, stop)
            except BaseException:  # interrupts included
                self._log.abandon()
                raise
        if self.at >= self.seconds:
            self._log.close(self.run_id, self.instance.state)

    def outcome(self) -> Outcome:
        """Return the outcome so far."""
        self.publications.settle(self.at)
        return outcome(
            self.run_id, self.at, instance=self.instance, engine=self.engine,
            deliveries=self.deliveries, use=self._radio_use(), batteries=self._batteries,
            observers=self._log.observers, shortfalls=self._memory.shortfalls(),
        )  # fmt: skip

    def energy(self) -> Energy:
        """Return the energy of every node so far."""
        return self._radio_use().energy

    def _radio_use(self) -> RadioUse:
        airtime = self.declared.airtime(self.radio, self.engine, self.power)
        up_s = self.at - self.environment.down_s(self.at)
        energy = spent(self.power, airtime, up_s)
        return RadioUse(up_s, airtime, energy, self.declared.counted(self.radio))

    @property
    def run_id(self) -> RunId:
        """The id of the run."""
        return RunId(self.system, self.seed, self.environment.n, self.seconds)

    @property
    def state(self) -> Any:
        """The present state of all nodes, with one row for each node; not a copy."""
        return self.instance.state

    @property
    def groups(self) -> GroupAccounting | None:
        """The views of the group members; None if the workload has no groups."""
        return self._log.observers.groups

    def post(self, some: Commands) -> None:
        """Post commands to nodes; a command to a node that is down is lost."""
        for first in range(0, len(some.at), _BATCH):
            batch = part(some, slice(first, first + _BATCH))
            self.engine = with_capacity(self.engine, len(batch.at) + 1)
            loop.post_all(self._lend(self.engine), lent(batch))

    def kill(self, *rows: int) -> None:
        """Take nodes down for good, now; the uptime of the environment does not count this."""
        down = np.array(rows, np.int64)
        self.engine.turns[down] |= np.uint32(1)  # odd while down

    def received_records(self) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
        """Return the records and receivers that were kept so far, in order."""
        return self._log.kept.received_records()

    def reports(self) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
        """Return the records that nodes reported to applications, and their rows."""
        return self._log.kept.reports()

    def _run_piece(self, end: float, limit: int, stop: Condition | None) -> bool:
        """Run up to a time; return False if a limit or the condition ended it."""
        until = end if end == self.seconds else float(np.nextafter(end, -np.inf))
        while True:
            delivered = int(self.engine.counters.handled[0])
            further = min(self._instant.most, _INTERRUPT_EVERY if stop is None else _STOP_EVERY)
            counted, queue = self._drive(until, min(limit, delivered + further)), self.engine.queue
            next_at = float(peek(self._lend(queue))[0]) if counted and queue.tally[0] > 0 else end
            self.at = max(self.at, min(next_at, end)) if counted else end
            if counted:
                pool, handled = self.engine.out, int(self.engine.counters.handled[0])
                in_flight = len(pool.pool) - int(pool.tally[0])
                self._instant.check(next_at, handled, in_flight, self.system)
            if int(self.engine.counters.handled[0]) >= limit or (stop and stop(self)):
                return False
            if not counted:
                return True

    def _drive(self, until: float, limit: int) -> bool:
        """Run the engine up to a time; return True if it reached `limit` records before."""
        environment, instance = self.environment, self.instance
        slots, beside = instance.most_emissions, instance.most_beside
        if environment.repeats:  # a receiver may repeat a record at both ends; all may hear it
            slots, beside = slots + 2, None
        if (copies := self.declared.copies(environment.max_degree())) > 1:
            slots *= copies  # each copy has one receiver
        elif beside != 0:
            others = slots if beside is None else beside
            slots += others * (environment.max_receivers - 1)
        if 0 < len(self.engine.received_records.row) < 2 * slots:
            self.engine = self.engine._replace(received_records=new_log(4 * slots))
        while True:
            why = loop.run(
                *self.neighbours.node(instance, self.engine.out), self.neighbours.neighbourhood,
                self.engine, self.radio, environment.reach, instance.kinds.starts, self._changes,
                until, limit, slots, self._lend,
            )  # fmt: skip
            self._log.empty(self.engine, self._changes)
            if why == loop.POOL_FULL:
                remedy = remedy_of(self.system, self._adapter)
                self.engine = with_capacity(self.engine, 2 * slots, remedy)
            elif why == loop.LISTS_FULL:
                environment.make_room()
            elif why == loop.MEMORY_LOST:
                self._lose_memory()
            elif why != loop.LOG_FULL:
                return bool(why == loop.COUNTED)

    def _lose_memory(self) -> None:
        """Empty the memory of the node that returns with the next change."""
        k = int(self._changes.tally[0])
        row = int(self._changes.a[k])
        self.engine.incarnation[row] += np.uint32(1)
        self._memory.lose(row, int(self.engine.incarnation[row]))
        self._changes.b[k] = KEPT

    def _new_radio(self, number: int) -> Any:
        """Return a radio, seeded by one of the random streams."""
        environment, seconds = self.environment, self.seconds
        course = None if environment.motion is None else environment.motion.course_of(seconds)
        return self.declared.made(environment.start, course, stream(self.seed, number))

    def _begin_log(self, window: int, stretch: bool, inspection: Inspection) -> None:
        """Make the delivery accounting, the publication feed and the run log."""
        demand, environment, kinds = self.demand, self.environment, self.instance.kinds
        self.deliveries = deliveries = DeliveryAccounting(
            demand, environment.n, window, self.instance.hops_from_publisher
        )
        observers = observers_of(kinds, environment.ids, demand, self.seconds)
        self.publications = feed = PublicationFeed(
            demand, deliveries, environment, stretch, observers.requests
        )
        names = environment.names()
        self._log = RunLog(kinds, feed, deliveries, names, inspection, observers)

    def _started(self) -> StartUp:
        """Post the start events at time 0, then the start-up commands."""
        self._changes = self.environment.advance(0.0)
        self._instant = InstantLimit.of(self.environment.n)
        instance, clocks = self.instance, self.engine.clocks
        self.neighbours.warm_up(instance, self.declared.copies, self._new_radio, clocks)
        if instance.kinds.starts:
            up = np.flatnonzero(self.environment.up)
            self.post(commands(np.zeros(len(up)), up, START, -1))
        self.post(start_up := self._adapter.start_up_commands(self.demand))
        return StartUp(start_up, self.environment.initially_down, instance.kinds)
