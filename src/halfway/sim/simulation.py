"""A run of any system on any network, message by message: the face that users call."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import Commands, RunContext, System, Unsupported, commands, part
from halfway.adapters.registry import named
from halfway.core.compiled import kernel
from halfway.core.message import START
from halfway.core.prng import seeded
from halfway.problem import Problem
from halfway.sim.engine import loop as engines
from halfway.sim.engine.kept_records import KeptRecords
from halfway.sim.engine.queue import first_at
from halfway.sim.engine.records import ANY_INCARNATION, taken
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.mobility import Motion
from halfway.sim.metrics.deliveries import DeliveryAccounting
from halfway.sim.metrics.outcome import Outcome
from halfway.sim.metrics.summary import outcome
from halfway.sim.radio.declarations import IdealAir, Radio
from halfway.sim.radio.energy import Power, checked
from halfway.sim.trace.writer import Trace
from halfway.sim.workload.publications import PublicationFeed
from halfway.sim.workload.start_up import StartUp
from halfway.world.faults import Fault
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Demand

_LETTERS = 4096  # room for letters to applications between two looks at them
_JOURNAL = 65_536  # records that wait to be written to a trace
_ASKED_EVERY = 1_000  # records between two questions whether to stop
_LOOK_EVERY = 1_000_000  # records after which an interrupt is heard
_AT_ONCE = 65_536  # letters posted at once
# Names of the dice, so that no two parts of a run ever share a stream.
_NODES, _FAULTS, _AIR = 1, 2, 3


class Simulation:
    """A system, a network, and what happens to them. Build one, call `run`, read the outcome.

    >>> from halfway.world.graphs.unit_disk import connected_unit_disk
    >>> from halfway.world.workload.demand import Drawn
    >>> network = connected_unit_disk(300, 0.1, seed=1).network
    >>> demand = Drawn(n=300, subscribers_each=20, events=10, seed=1)
    >>> told = Simulation("flooding", network, workload=demand, seconds=30.0).run()
    >>> told.delivery_ratio
    1.0

    system: a name (`halfway list` shows them), or one of your own
    (`halfway.adapters.user_protocol`); `options` sets its numbers.
    network: one that stands; or motion: nodes that move (exactly one of the two).
    radio: a declaration of `halfway.sim.radio.declarations`; by default an ideal unit disk of 1 ms
    a hop.
    faults: crashes, churn, cut links and partitions of `halfway.world.faults`.
    workload: who subscribes and who publishes when, of `halfway.world.workload.demand`.
    seconds: how long it runs. Events near its end may find no time to arrive: leave them some.
    hello_s: nodes learn of their neighbours' comings and goings that much later (0: at once).
    seed: same seed, same bytes; nodes' dice, faults and losses have streams of their own.
    window: events that may be on their way at a time; older ones are forgotten by everybody.
    trace: a Parquet file of everything that happens. stretch=False spares the shortest paths.
    journal: how many received records to keep for `journal()`, 0 for `reports()` alone.
    Raises Problem for whatever a user can mend.
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
        hello_s: float = 1.0,
        window: int = 256,
        options: Mapping[str, Any] | None = None,
        power: Power | None = None,
        trace: Path | None = None,
        stretch: bool = True,
        journal: int | None = None,
    ) -> None:
        if not (0.0 < seconds < 1e12):
            raise Problem(f"seconds = {seconds:g}: it must be positive and finite")
        if not 0 <= seed < 2**64:
            raise Problem(f"seed = {seed}: it must be an integer from 0 to 2^64 - 1")
        if window < 1:
            raise Problem(f"window = {window}: it must be 1 or more events")
        chosen = system if isinstance(system, System) else named(system)
        self.system, self.seconds, self.seed = chosen.name, float(seconds), seed
        self._adapter = chosen.with_options(options or {})
        self.demand = workload.begun_again()
        self.environment, context = environment_and_context(
            network, motion, self.demand, faults,
            seconds=self.seconds, seed=seed, hello_s=hello_s, window=window,
        )  # fmt: skip
        n = self.environment.n
        if why := self._adapter.unsupported(context):
            raise Unsupported(f"{self.system} cannot run here: {why}")
        self.instance = self._adapter.instance(context)
        self.declared = radio or IdealAir()
        moving = motion is not None
        self.radio = self.declared.made(self.environment.start, moving, _word(seed, _AIR))
        self.power = checked(power or Power())
        self.deliveries = DeliveryAccounting(
            self.demand, n, window, self.instance.hops_from_publisher
        )
        self.at = self._posted_to = 0.0
        self._publishing = PublicationFeed(self.demand, self.deliveries, self.environment, stretch)
        self._trace = None if trace is None else Trace(trace, self)
        self._records = None if journal is None else KeptRecords(journal)
        buffer = _JOURNAL if trace is not None or journal else 0
        self.engine = engines.engine(n, 1024, _LETTERS, buffer)._replace(cut=self.environment.cut)
        self._changes = self.environment.advance(0.0)
        self._opening = self._open()

    def run(
        self,
        until: float | None = None,
        *,
        events: int | None = None,
        stop: Callable[["Simulation"], bool] | None = None,
    ) -> Outcome:
        """Run to the end, or go on until a time, a count or a condition; ask again to go on.

        until: seconds; what is due at that very time is left for the next call (but not at the
        end). events: records delivered in all, after which no further transmission arrives.
        stop: asked every 1,000 records and at the end of each window of the world.
        """
        if until is not None and not until >= 0.0:
            raise Problem(f"until = {until}: it must be 0 s or more")
        target = self.seconds if until is None else min(float(until), self.seconds)
        most = engines.NEVER if events is None else events
        going = True
        while self.at < target and going:
            if self.at >= self.environment.at:
                self._changes = self.environment.advance(self.environment.window_end(self.seconds))
                self._publishing.note(self._changes)
                for said in self._opening.again(self._changes):
                    self.post(said)
            if self.at >= self._posted_to:
                some, self._posted_to = self._publishing.take(self.environment.at)
                self.post(self._adapter.publish_commands(some))
            try:
                going = self._piece(min(target, self._posted_to), most, stop)
            except BaseException:  # an interrupt as well: half a trace is none
                if self._trace is not None:
                    self._trace.abandon()
                raise
        if self._trace is not None and self.at >= self.seconds:
            self._trace.close(self)
            self._trace = None
        return outcome(self)

    @property
    def state(self) -> Any:
        """The state of all nodes now, a row each; not a copy."""
        return self.instance.state

    def post(self, some: Commands) -> None:
        """Post commands to nodes. A node that is down at the time of a command does not get it."""
        for first in range(0, len(some.at), _AT_ONCE):
            batch = part(some, slice(first, first + _AT_ONCE))
            self._grow(len(batch.at) + 1)
            _post_all(self.engine, batch)

    def kill(self, *rows: int) -> None:
        """Take nodes down now and for good. The environment's uptime does not count it."""
        down = np.array(rows, np.int64)
        self.engine.incarnation[down] |= np.uint32(1)  # odd while down

    def journal(self) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
        """The records received so far (MESSAGE), and the rows that received them, in order."""
        return self._kept().journal()

    def reports(self) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
        """The records to applications so far (MESSAGE), and the rows that sent them, in order."""
        return self._kept().reports()

    def _kept(self) -> KeptRecords:
        if self._records is None:
            raise Problem(
                "no records were kept", remedy="build the simulation with journal=0 or more"
            )
        return self._records

    def _piece(self, end: float, most: int, stop: Callable[["Simulation"], bool] | None) -> bool:
        """Up to a time for which all publications are posted; False if it stopped, as asked."""
        until = end if end == self.seconds else float(np.nextafter(end, -np.inf))
        while True:
            delivered = int(self.engine.counters.events[0])
            further = _LOOK_EVERY if stop is None else _ASKED_EVERY
            counted = self._drive(until, min(most, delivered + further))
            if counted:
                self.at = max(self.at, min(float(_next_at(self.engine)), end))
            else:
                self.at = end
            if int(self.engine.counters.events[0]) >= most or (stop and stop(self)):
                return False
            if not counted:
                return True

    def _drive(self, until: float, most: int) -> bool:
        """Let the engine run up to a time, making room as it asks. True if the count came first."""
        environment, instance = self.environment, self.instance
        spare = instance.most_emissions
        if not instance.unicast:
            spare *= environment.most_receivers() * self.declared.copies(environment.widest())
        if 0 < len(self.engine.journal.row) < 2 * spare:
            self.engine = self.engine._replace(journal=engines.log(4 * spare))
        while True:
            why = engines.run(
                instance.state, instance.rules, environment.neighbourhood, self.engine, self.radio,
                environment.reach, instance.kinds.starts, self._changes, until, most, spare,
            )  # fmt: skip
            self._empty_logs()
            if why == engines.CROWDED:
                self._grow(2 * spare)
            elif why == engines.LISTS_FULL:
                environment.make_room()
            elif why != engines.LOG_FULL:
                return bool(why == engines.COUNTED)

    def _grow(self, free: int) -> None:
        """Room for so many more records in flight."""
        while self.engine.out.tally[0] < free:
            self.engine = engines.grown(self.engine)
        self.radio = self.declared.grown(self.radio, len(self.engine.out.free))

    def _empty_logs(self) -> None:
        """Take what the engine kept: letters to the ledger, the journal to the trace."""
        if self.engine.out.tally[1] > 0:
            raise RuntimeError(f"{self.engine.out.tally[1]} emissions overflowed the outbox")
        told, rows = taken(self.engine.applications)
        mine = told["kind"] == self.instance.kinds.number("delivered")
        some = told[mine]
        self.deliveries.deliver(
            some["event"].astype(np.int64), rows[mine], some["at"], some["hops"].astype(np.int64)
        )
        if self._trace is None and self._records is None:
            return
        heard, heard_by = taken(self.engine.journal)
        if self._trace is not None:
            self._trace.write(heard, heard_by, told, rows, self._changes)
        if self._records is not None:
            self._records.add((heard, heard_by), (told, rows))

    def _open(self) -> StartUp:
        """Boots, then subscriptions, at time 0."""
        if self.instance.kinds.starts:
            up = np.flatnonzero(self.environment.up)
            self.post(commands(np.zeros(len(up)), up, START, -1))
        said = self._adapter.start_up_commands(self.demand)
        self.post(said)
        return StartUp(said, self.environment.missing())


def environment_and_context(
    network: Network | None,
    motion: Motion | None,
    demand: Demand,
    faults: Sequence[Fault],
    *,
    seconds: float,
    seed: int,
    hello_s: float,
    window: int,
) -> tuple[Environment, RunContext]:
    """The environment of a run, and what adapters may know of it; Problem for what does not fit."""
    environment = Environment(
        network, motion, faults, seed=_word(seed, _FAULTS), seconds=seconds, hello_s=hello_s
    )
    _check_rows(demand, environment.n)
    reach = None if motion is None else motion.radius
    return environment, RunContext(
        environment.n, environment.widest(), demand, window, seconds, _word(seed, _NODES),
        environment.start, reach,
    )  # fmt: skip


def _check_rows(demand: Demand, n: int) -> None:
    for rows in (*demand.publishers, *demand.subscribers):
        if len(rows) and rows[-1] >= n:
            raise Problem(f"row {rows[-1]} publishes or subscribes, but there are {n} nodes")


def _word(seed: int, name: int) -> int:
    return int(_seeded(np.uint64(seed), name))


@kernel
def _seeded(seed, name):
    return seeded(seed, name)


@kernel
def _next_at(engine):
    if engine.queue.tally[0] == 0:
        return np.inf
    return first_at(engine.queue)


@kernel
def _post_all(engine, some):
    for k in range(some.at.shape[0]):
        engines.command(
            engine, some.at[k], some.row[k], ANY_INCARNATION, some.kind[k], some.topic[k], some.walk[k],
            some.event[k],
        )  # fmt: skip
