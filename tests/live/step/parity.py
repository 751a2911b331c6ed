"""The same run in the simulator and in the memory bed: the same reports and the same states."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from halfway.core.message import START
from halfway.core.missing import NONE
from halfway.core.values.digest import state_digest
from halfway.live.step.system_node import SystemNode
from halfway.sim.engine.changes import Changes, changes
from halfway.sim.environment.memory import named_arrays
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.sim.workload.start_up import StartUp
from halfway.world.faults import Crash, Fault, Memory
from halfway.world.graphs.network import Network
from halfway.world.outages import KEPT, LOST, NODE_DOWN, NODE_UP
from halfway.world.workload.demand import Demand, Drawn
from tests.live.step.loopback import LoopbackBed
from tests.live.step.memory_bed import Fate, MemoryBed


class Schedule(NamedTuple):
    """The inputs of one run."""

    system: str
    network: Network
    node_ids: np.ndarray[Any, np.dtype[np.int32]]
    demand: Demand
    delay_s: float
    seconds: float
    seed: int
    options: dict[str, Any]
    crashes: Sequence[tuple[int, float, float]] = ()  # row, down at, up at
    forgets: bool = False  # whether a crash takes the memory
    learns_root: bool = False  # whether brokers of a tree are not given the root
    disturbed: bool = False  # loss, duplicates and reordering; not in the simulator


class Result(NamedTuple):
    """What a run decided: the reports of all nodes in order, and the state of each node."""

    reports: list[tuple[int, bytes]]
    states: list[str]


def faults(schedule: Schedule) -> list[Fault]:
    """The crashes of a schedule as faults of the simulator."""
    memory: Memory = "lost" if schedule.forgets else "kept"
    network = schedule.network
    # A network with positions has its rows in another order.
    labels = range(network.n) if network.labels is None else network.labels
    return [
        Crash(node=int(labels[row]), at=down, for_=up - down, memory=memory)
        for row, down, up in schedule.crashes
    ]


def simulation(schedule: Schedule) -> Simulation:
    """The simulation of a schedule; its nodes check every record."""
    made = Simulation(
        schedule.system, schedule.network, workload=schedule.demand,
        radio=IdealRadio(delay_s=schedule.delay_s), seconds=schedule.seconds, seed=schedule.seed,
        options=schedule.options, nodes=NodeSettings(ids=schedule.node_ids),
        inspection=Inspection(received_records=1 << 16, check=True),
        faults=faults(schedule), discovery_delay_s=np.inf,
    )  # fmt: skip
    if schedule.learns_root:
        own, memory = dict(named_arrays(made.instance.state)), made._memory._blank
        after_loss = {name: blank for name, _, blank in memory._arrays}
        for name in {"root", "founder"} & own.keys():
            own[name][:] = NONE
            if name in after_loss:
                after_loss[name][:] = NONE
    return made


# The row of a node in the arrays of brokers and of clients, which have one row at a live node.
_PLACES = ("broker_index", "client_index")


def own_state(instance: Any, part: Any, row: int, within: str = "") -> Any:
    """The state of one row of a simulation, with one row."""
    made = []
    for name, one in zip(part._fields, part, strict=True):
        if isinstance(one, tuple):
            made.append(own_state(instance, one, row, f"{within}{name}."))
        elif isinstance(one, np.ndarray):
            rows = instance.own_rows(instance.state, within + name, row)
            own = _copied(one[rows]).view(type(one))
            made.append(np.minimum(own, 0) if name in _PLACES else own)
        else:
            made.append(one)
    return type(part)._make(made)


def _copied(some: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A copy without the bytes between the fields of a record, which are not part of a state."""
    if some.dtype.names is None:
        return some.copy()
    copied = np.zeros(some.shape, some.dtype)
    for name in some.dtype.names:
        copied[name] = some[name]
    return copied


def simulated(schedule: Schedule) -> Result:
    """The result of a schedule in the simulator."""
    run = simulation(schedule)
    run.run()
    records, rows = run.reports()
    states = [
        state_digest(own_state(run.instance, run.instance.state, row))
        for row in range(schedule.network.n)
    ]
    assert run.engine.checks.refused[1:].sum() == 0
    return Result(
        [(int(row), record.tobytes()) for row, record in zip(rows, records, strict=True)], states
    )


def fate_of(schedule: Schedule) -> Fate | None:
    """The delays of the copies of each transmission: a tenth is lost, a tenth comes twice, and
    late ones are overtaken."""
    if not schedule.disturbed:
        return None

    def fate(sender: int, receiver: int, number: int) -> Sequence[float]:
        random = np.random.default_rng([schedule.seed, sender, receiver, number])
        copies = int(random.choice(3, p=[0.1, 0.8, 0.1]))
        return (schedule.delay_s * random.uniform(1.0, 5.0, copies)).tolist()

    return fate


def lived(
    schedule: Schedule, compiled: Sequence[int] = (), from_s: float = 0.0,
    bed_type: type[MemoryBed] = MemoryBed,
) -> Result:  # fmt: skip
    """The result of a schedule in a bed; rows in `compiled` run as machine code from a time on."""
    fresh = simulation(schedule)
    instance, network = fresh.instance, schedule.network
    links = [network.who[a:b].tolist() for a, b in
             zip(network.start[:-1], network.start[1:], strict=True)]  # fmt: skip

    rules = instance.rules
    if hasattr(rules, "names"):  # live nodes have names of topics; here they are the numbers
        rules = rules._replace(names=np.arange(64, dtype=np.uint64))

    def node(row: int) -> SystemNode:
        state = own_state(instance, instance.state, row)
        return SystemNode(state, rules, instance.most_emissions, instance.kinds, instance.limits)

    bed = bed_type(
        links, node, node_ids=schedule.node_ids, delay_s=schedule.delay_s, topics=64,
        fate=fate_of(schedule), positions=network.position,
    )  # fmt: skip
    if isinstance(bed, LoopbackBed):
        assert from_s == 0.0, "only machine code takes datagrams"
        for one in bed.nodes:
            one.stepper.compile()
        lives = range(1 + len(schedule.crashes))
        bed.know_events([(int(one), life, number) for one in schedule.node_ids
                         for life in lives for number in range(6)])  # fmt: skip
    for row in compiled:
        bed.timers.push(from_s, lambda _, row: bed.nodes[row].stepper.compile(), row)
    if START in instance.kinds:
        for row in range(network.n):
            bed.post(0.0, row, int(START), -1, 0, -1)
    start_up = fresh._adapter.start_up_commands(fresh.demand)
    again = StartUp(start_up, np.zeros(0, np.int32), instance.kinds).repeat(_changes(schedule))
    for one in (start_up, _publications(schedule, fresh), *again):
        for command in zip(*one, strict=True):
            bed.post(*(value.item() for value in command))
    for row, down, up in schedule.crashes:
        bed.timers.push(down, lambda _, row: bed.set_up(row, False), row)
        back = down + (up - down)  # as a fault has it, to the last bit
        bed.timers.push(back, lambda _, row: bed.set_up(row, True, forgets=schedule.forgets), row)
    bed.run(schedule.seconds)
    if isinstance(bed, LoopbackBed):
        bed.close()
    return Result(
        [(row, record.tobytes()) for row, record in bed.reports],
        [state_digest(one.stepper.node.state) for one in bed.nodes],
    )


def _changes(schedule: Schedule) -> Changes:
    """The crashes of a schedule as the simulator lists them, in order of time."""
    lost = LOST if schedule.forgets else KEPT
    turns = [(down, NODE_DOWN, row, KEPT) for row, down, _ in schedule.crashes]
    turns += [(down + (up - down), NODE_UP, row, lost) for row, down, up in schedule.crashes]
    at, kind, row, memory = np.array(sorted(turns), float).reshape(-1, 4).T
    return changes(at, kind, row, memory)


def _publications(schedule: Schedule, fresh: Simulation) -> Any:
    demand = schedule.demand.begun_again()
    if not isinstance(demand, Drawn):
        return fresh._adapter.publish_commands(demand.next_publications(schedule.seconds, 1))
    some = demand.next_publications(schedule.seconds, 1 << 20)
    begun: dict[int, int] = {}
    numbers = []
    for row in some.row.tolist():
        numbers.append(begun.get(row, 0))
        begun[row] = numbers[-1] + 1
    return fresh._adapter.publish_commands(some._replace(event=np.array(numbers, np.int32)))
