"""How the nodes of a run know their neighbours: given by the simulator, or learnt in an exchange of
hellos.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from halfway.adapters.commands import commands
from halfway.adapters.interface import Adapter, NeighbourKnowledge, RunContext, SystemInstance
from halfway.core.compiler.lent import Lender, lent
from halfway.core.driver import TICKS
from halfway.core.hello.hello_node import with_hellos
from halfway.core.hello.link import LINK
from halfway.core.hello.messages import kinds_with_hellos
from halfway.core.hello.sending import HELLO_PERIOD_S, most_emissions
from halfway.core.hello.state import (
    FORGOTTEN,
    MOST_REPORTED,
    UNREPORTED,
    HelloRules,
    Hellos,
    hellos,
    unknown_neighbourhood,
)
from halfway.core.message import START
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.records.wire import record_sizes
from halfway.problem import Problem
from halfway.sim.engine import loop
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.clocks import Clocks
from halfway.sim.engine.memory_limit import check_memory, with_capacity
from halfway.sim.engine.state import (
    FIRST_SLOTS,
    Engine,
    NodeTraits,
    RecordTraits,
    new_engine,
)
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.memory import BlankMemory
from halfway.sim.environment.run_context import HELLOS, WARM_UP, stream

WARM_UP_PERIODS = 10  # periods of hellos before time 0; lists settle, also over lossy links
NewRadio = Callable[[int], Any]  # makes a radio of the run from a random stream
Copies = Callable[[int], int]  # the slots for an emission on the radio, for the largest degree


class SentHellos(NamedTuple):
    """The hellos that the nodes of a run send to learn of their neighbours.

    period_s: mean time between two hellos of a node. limit: neighbours that a node has room for, at
    most.
    """

    period_s: float = HELLO_PERIOD_S
    limit: int = 65_536


class GivenNeighbours:
    """The given neighbourhoods of a run: the simulator fills them, and nodes send no hello."""

    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    @property
    def neighbourhood(self) -> Neighbourhood:
        """The given neighbourhoods of all rows at the present time of the run."""
        return self._environment.neighbourhood

    def instance(self, of: SystemInstance) -> SystemInstance:
        """Return the instance of a system unchanged, because given neighbours need no hello
        exchange.
        """
        return of

    def node(self, instance: SystemInstance, out: Any) -> tuple[Any, Any]:
        """Return the state and the rules of an instance for the engine; given neighbours add
        nothing.
        """
        del out
        return instance.state, instance.rules

    def begin_window(self) -> None:
        """Take the given neighbourhoods from the environment's next window."""

    def forget(self, row: int, incarnation: int) -> None:
        """Do nothing for given neighbours: the simulator gives them again to a node without
        memory.
        """

    def warm_up(
        self, instance: SystemInstance, copies: Copies, new: NewRadio, clocks: Clocks
    ) -> None:
        """Do nothing for given neighbours, which nodes know at time 0."""


class HelloExchange(GivenNeighbours):
    """The hello exchange of a run, in which nodes learn their neighbourhoods from hellos.

    knowledge: the parts of the neighbourhood that the system reads. seed: seed of the nodes' random
    streams of hellos. Raises Problem for a period or a limit out of range.
    """

    def __init__(
        self,
        sent: SentHellos,
        knowledge: NeighbourKnowledge,
        environment: Environment,
        context: RunContext,
        seed: int,
    ) -> None:
        super().__init__(environment)
        if not 0.0 < sent.period_s < np.inf:
            raise Problem(f"hello_period_s = {sent.period_s:g}: expected a positive finite number")
        if sent.limit < 1:
            raise Problem(f"hello_neighbours = {sent.limit}: expected 1 or more neighbours")
        limit, positions = min(sent.limit, context.most_neighbours), environment.has_positions
        two_hops = knowledge.hops > 1
        # Only memory, in a static network: a node needs no room for more senders than it can hear.
        bounded = context.reach is None and not environment.repeats
        ever = context.start.degree if bounded else np.full(context.n, limit)
        capacity = np.minimum(ever, limit).astype(np.int64)
        reported = two_hops * min(limit, MOST_REPORTED)
        check_memory(
            float(capacity.sum()) * (LINK.itemsize + 8 * (1 + reported)),  # 8: an id and a row
            f"the lists of {context.n:,} nodes with up to {limit:,} neighbours",
            where="hello",
            remedy='set hello_neighbours, or hello = "given"',
        )
        self._hellos, self._most = hellos(context.node_ids, capacity, seed), most_emissions(limit)
        self._learnt = unknown_neighbourhood(
            context.n, capacity, reported=reported, positions=positions
        )
        carried = two_hops and positions and knowledge.positions
        self._rules = HelloRules(float(sent.period_s), starts=False, positions=carried)
        memory = self._hellos if context.memory_lost else ()
        self._blank = BlankMemory(memory, _own_rows)
        self._lend, self._out = Lender(), None
        self._node: Any = None
        self.begin_window()

    @property
    def neighbourhood(self) -> Neighbourhood:
        """The neighbourhoods of all rows by a run's hello exchange."""
        return self._learnt

    def instance(self, of: SystemInstance) -> SystemInstance:
        """Return the instance of a system with the hello exchange added. Raises Problem if the
        system uses the record kinds of hellos.
        """
        try:
            kinds = kinds_with_hellos(of.kinds)
        except ValueError as error:
            remedy = "number the kinds of the protocol from 0 to 249, and name none neighbour-hello"
            raise Problem(str(error), remedy=remedy) from None
        self._rules = self._rules._replace(starts=of.kinds.starts)
        most = max(of.most_emissions + 1, self._most)  # a start also sets the hello timer
        # A hello to all is not a record of the system, even if its records are for one node each.
        beside = None if of.most_beside is None else max(of.most_beside, 1)
        before = of.shortfalls

        def shortfalls(state: Any) -> Mapping[str, int]:
            return {**before(state), **self._shortfalls()}

        return of._replace(
            kinds=kinds, most_emissions=most, most_beside=beside, shortfalls=shortfalls
        )

    def _shortfalls(self) -> Mapping[str, int]:
        counts = self._hellos.counts.sum(axis=0)
        return {
            "forgotten neighbours": int(counts[FORGOTTEN]),
            "forgotten neighbours of neighbours": int(counts[UNREPORTED]),
        }

    def node(self, instance: SystemInstance, out: Any) -> tuple[Any, Any]:
        """Return the state and the rules for the engine, from an instance with a hello exchange
        that emits into `out`.
        """
        if self._out is not out:
            self._node = with_hellos(
                instance.state, instance.rules, self._hellos, self._learnt, out, self._lend
            )
            self._out = out
        return self._node, self._rules

    def begin_window(self) -> None:
        """Give the nodes of the hello exchange their positions in the environment's next window."""
        n = self._environment.n
        if self._environment.has_positions:
            self._learnt.x[:n] = self._environment.neighbourhood.x
            self._learnt.y[:n] = self._environment.neighbourhood.y

    def forget(self, row: int, incarnation: int) -> None:
        """Empty a node's memory of the hello exchange, and draw random numbers for its new
        incarnation.
        """
        self._blank.clear(row, incarnation)
        self._learnt.last[row] = self._learnt.first[row]

    def warm_up(
        self, instance: SystemInstance, copies: Copies, new: NewRadio, clocks: Clocks
    ) -> None:
        """Exchange hellos before time 0, until the neighbour lists settle; no metric counts these
        hellos.

        Nodes send only hellos, in the environment of time 0. copies: the function that returns the
        slots for an emission on the radio. new: the function that makes the radio.
        """
        environment, engine = self._environment, self._warm_engine(instance, clocks)
        rules = self._rules._replace(starts=False)
        seconds = WARM_UP_PERIODS * rules.period_s
        slots = self._most * copies(environment.max_degree())
        made, lend = new(WARM_UP), Lender()
        why = loop.POOL_FULL
        while why == loop.POOL_FULL:
            engine = with_capacity(engine, slots)
            node, _ = self.node(instance, engine.out)
            why = loop.run(
                node, rules, self._learnt, engine, made, environment.reach, True, no_changes(),
                seconds, loop.UNLIMITED, slots, lend,
            )  # fmt: skip
            slots = 2 * slots if why == loop.POOL_FULL else slots
        self._begin_clocks_again(clocks, seconds)
        self._hellos.counts[:] = 0

    def _warm_engine(self, instance: SystemInstance, clocks: Clocks) -> Engine:
        """Return the engine of the hello exchange's warm-up, with the start event of each node that
        is up.
        """
        environment = self._environment
        engine = new_engine(
            environment.n,
            FIRST_SLOTS,
            1,
            nodes=NodeTraits(ids=environment.ids, clocks=clocks),
            records=RecordTraits(sizes=record_sizes(instance.kinds)),
        )
        engine.turns[environment.initially_down] = 1
        engine = with_capacity(engine, environment.n)
        up = np.flatnonzero(engine.turns == 0)
        loop.post_all(lent(engine), lent(commands(np.zeros(len(up)), up, START, -1)))
        return engine

    def _begin_clocks_again(self, clocks: Clocks, seconds: float) -> None:
        """Shift the times that nodes remember from hellos, because the run begins after the warm-up
        at time 0.
        """
        passed = np.full(self._environment.n, seconds)
        if len(clocks.rate):
            passed = np.floor(seconds * clocks.rate * TICKS) / TICKS  # as in `own_time`
        self._hellos.next_at[:] -= passed
        self._hellos.link["heard_at"] -= np.repeat(passed, np.diff(self._hellos.first))


def _own_rows(state: Hellos, name: str, row: int) -> slice:
    """Return the rows of one node in an array of the hello exchange's memory."""
    if name == "first":
        return slice(0, 0)
    if name == "link":
        return slice(int(state.first[row]), int(state.first[row + 1]))
    return slice(row, row + 1)


def neighbours_of(
    sent: SentHellos | None,
    adapter: Adapter,
    environment: Environment,
    context: RunContext,
    seed: int,
) -> GivenNeighbours:
    """Return the way in which the nodes of a run know their neighbours: `HelloExchange` or
    `GivenNeighbours`.

    seed: the seed of the run.
    """
    if sent is None:
        return GivenNeighbours(environment)
    knowledge = adapter.neighbour_knowledge()
    return HelloExchange(sent, knowledge, environment, context, stream(seed, HELLOS))
