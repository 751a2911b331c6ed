"""The engine of one run: record sizes, payloads and checks for the instance of a system."""

import os

from halfway.adapters.interface import Adapter, RunContext, SystemInstance, Unsupported
from halfway.core.records.checks import no_checks, record_checks
from halfway.core.records.wire import record_sizes
from halfway.sim.engine.attackers import attackers_of
from halfway.sim.engine.clocks import Clocks
from halfway.sim.engine.state import FIRST_SLOTS, Engine, NodeTraits, RecordTraits, new_engine
from halfway.sim.environment.environment import Environment
from halfway.sim.workload.payloads import payload_of

_APPLICATIONS = 4096  # capacity of the log of records for applications
CHECK_RECORDS = "HALFWAY_CHECK_RECORDS"  # 1: a run checks records by default


def instance_of(name: str, adapter: Adapter, context: RunContext) -> SystemInstance:
    """Return the instance of a system for the engine of a run. Raises Unsupported with the reason.
    name: the name of the system.

    name: of the system.
    """
    if why := adapter.unsupported(context):
        raise Unsupported(f"{name} cannot run here: {why}")
    return adapter.instance(context)


def run_engine(
    environment: Environment, instance: SystemInstance, payloads: int, journal: int, *,
    clocks: Clocks, check: bool | None, seed: int,
) -> Engine:  # fmt: skip
    """Return the engine of a run, for one instance of a system.

    payloads: number of events in flight with payload bytes. journal: number of received records
    that the journal has room for. check: whether the door refuses records that do not fit the
    declarations of their kinds; None: the environment variable HALFWAY_CHECK_RECORDS decides. seed:
    seed of the values of liars.
    """
    if check is None:
        check = os.environ.get(CHECK_RECORDS) == "1"
    engine = new_engine(
        environment.n, FIRST_SLOTS, _APPLICATIONS, journal,
        records=RecordTraits(
            sizes=record_sizes(instance.kinds), age_place=instance.kinds.ages,
            payload=payload_of(instance.kinds, payloads) if payloads else None,
            checks=record_checks(instance.kinds, instance.limits) if check else no_checks(),
        ),
        nodes=NodeTraits(
            ids=environment.ids, clocks=clocks, pauses=environment.pauses,
            attacks=attackers_of(environment.ids.of, instance.kinds, instance.limits, seed)
            if environment.attacks else None,
        ),
    )  # fmt: skip
    return engine._replace(cut=environment.cut)
