"""The engine of one run, with the sizes of the run's records, and the instance of its system for
this engine.
"""

import os

from halfway.adapters.interface import Adapter, RunContext, SystemInstance, Unsupported
from halfway.core.records.checks import no_checks, record_checks
from halfway.core.records.wire import record_sizes
from halfway.sim.engine.attackers import attackers_of
from halfway.sim.engine.memory_limit import check_memory
from halfway.sim.engine.state import (
    FIRST_SLOTS,
    Engine,
    NodeTraits,
    RecordTraits,
    new_engine,
)
from halfway.sim.environment.clock_errors import ClockErrors, clocks_of
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.memory import named_arrays
from halfway.sim.environment.run_context import CLOCKS, LIES, stream
from halfway.sim.run_settings import Inspection
from halfway.sim.workload.payloads import payload_of

_WAITING = 65_536  # records that wait to be written to a trace
_FEW_ENTRIES = 100_000  # of a table with an entry for each node and neighbour
_APPLICATIONS = 4096  # capacity of the log of records for applications
CHECK_RECORDS = "HALFWAY_CHECK_RECORDS"  # 1: a run checks records by default


def instance_of(name: str, adapter: Adapter, context: RunContext) -> SystemInstance:
    """Return the instance of a system for the engine of one run. Raises Unsupported with the
    reason, and Problem if its tables do not fit into the memory.

    name: the name of the system.
    """
    if why := adapter.unsupported(context):
        raise Unsupported(f"{name} cannot run here: {why}")
    if adapter.has_neighbour_tables and context.n * context.most_neighbours > _FEW_ENTRIES:
        check_tables(name, adapter, context)
    return adapter.instance(context)


def check_tables(name: str, adapter: Adapter, context: RunContext) -> None:
    """Raise Problem if the tables of all nodes of a run need more memory than the machine has free.

    The tables have one size on all nodes, so the state of one node gives this size.
    """
    lone = adapter.instance(context._replace(node_ids=context.node_ids[:1]))
    need = context.n * sum(array.nbytes for _, array in named_arrays(lone.state))
    check_memory(
        need * (2 if context.memory_lost else 1),  # a run keeps a copy of lost memory
        f"the tables of {context.n:,} nodes with up to {context.most_neighbours:,} neighbours",
        where=f"system = {name}",
        remedy=remedy_of(name, adapter),
    )


def remedy_of(name: str, adapter: Adapter) -> str:
    """Return what a user can do if a run of a system needs too much memory: set the option that
    limits the neighbours in the tables of a node, if the system has one.
    """
    option = adapter.neighbour_option
    limits = f"set options.{name}.{option} to a small number, or " if option else ""
    return (
        f"{limits}use another system, or a network with fewer nodes or fewer neighbours of a node"
    )


def run_engine(
    environment: Environment,
    instance: SystemInstance,
    payloads: int,
    clock: ClockErrors | None,
    inspection: Inspection,
    seed: int,
) -> Engine:
    """Return the engine of a run, for one instance of a system, with room for the records that are
    kept.

    payloads: number of events in flight with payload bytes. seed: seed of the run.
    """
    check = inspection.check
    nothing = inspection.trace is None and not inspection.received_records
    received = 0 if nothing else _WAITING
    clocks = clocks_of(clock, environment.n, stream(seed, CLOCKS))
    liars = stream(seed, LIES)
    if check is None:
        check = os.environ.get(CHECK_RECORDS) == "1"
    engine = new_engine(
        environment.n, FIRST_SLOTS, _APPLICATIONS, received,
        records=RecordTraits(
            sizes=record_sizes(instance.kinds), age_place=instance.kinds.ages,
            payload=payload_of(instance.kinds, payloads) if payloads else None,
            checks=record_checks(instance.kinds, instance.limits) if check else no_checks(),
        ),
        nodes=NodeTraits(
            ids=environment.ids, clocks=clocks, pauses=environment.pauses,
            attacks=attackers_of(
                environment.ids.of, instance.kinds, instance.limits, liars, environment.faults,
                FIRST_SLOTS,
            ) if environment.attacks else None,
        ),
    )  # fmt: skip
    return engine._replace(cut=environment.cut)
