"""Building a scenario: its network or movement, its workload, and the simulation of a system, or
the reason why a system cannot run.
"""

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from halfway.adapters.interface import RunContext, System, Unsupported
from halfway.adapters.registry import named
from halfway.problem import Problem
from halfway.scenario.acknowledgements import options_of
from halfway.scenario.schema import (
    Backbone,
    FailureDetection,
    FromFile,
    GroupWorkload,
    NodePower,
    Recorded,
    Scenario,
    UnitDisk,
    Waypoint,
)
from halfway.scenario.workload import AnyDemand, NamesAndSeed, demand_of
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.environment.mobility import Motion
from halfway.sim.environment.run_context import FAULTS, context_of, stream
from halfway.sim.radio.energy import Power
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.sim.trace.sink import TraceSink
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import read_network
from halfway.world.importers.node_values import read_node_values
from halfway.world.mobility.motion import Legs, Presence
from halfway.world.mobility.random_waypoint import WaypointMotion
from halfway.world.mobility.trace_files import read_motion
from halfway.world.mobility.tracks import Traces
from halfway.world.underlays.waxman import Waxman, waxman
from halfway.world.workload.demand import Listed
from halfway.world.workload.named_roles import Names


class PreparedScenario(NamedTuple):
    """A prepared scenario: drawn by the seed or read from files, and the same for every system."""

    network: Network | None  # None: the nodes move
    motion: Motion | None  # None: the network is static
    demand: AnyDemand
    battery_j: float | Sequence[float] | None  # of all nodes, or [n]


def simulation_of(
    scenario: Scenario,
    *,
    system: str | System | None = None,
    trace: Path | TraceSink | None = None,
) -> Simulation:
    """Build the simulation that a scenario describes, with its own system or another one.

    The scenario's seed draws the network, the roles and everything else. Each of these parts has a
    separate random stream. So another system runs on the same network with the same workload.

    trace: a Parquet file for all records, or an object that receives them. Raises Problem for a
    scenario that cannot run.
    """
    # A wrong name is reported before a network is drawn.
    chosen = system_of(scenario, system)
    if why := other_purpose(chosen, scenario):
        raise Unsupported(f"{chosen.name} cannot run here: {why}", where="workload")
    return simulation_on(prepared(scenario), scenario, chosen, trace)


def system_of(scenario: Scenario, system: str | System | None = None) -> System:
    """Return the system to build a scenario's simulation with: the scenario's own, or another one.
    Raises Problem for an unknown name.
    """
    if system is None:
        return named(scenario.system, "system")
    return system if isinstance(system, System) else named(system, "system")


def prepared(scenario: Scenario) -> PreparedScenario:
    """Build the network or the movement that a scenario names, and its workload there."""
    _check_options_of_brokers(scenario)
    with _located("network"):
        network, motion = network_of(scenario)
    known = NamesAndSeed(_names(network, motion), scenario.seed)
    with _located("workload"):
        try:
            demand = demand_of(scenario.workload, known)
        except Problem as problem:
            if network is None or not network.remarks:
                raise
            # Often the file has the nodes, and its reading left them out.
            what = f"{problem.what}; {'; '.join(network.remarks)}"
            raise Problem(what, where=problem.where, remedy=problem.remedy) from None
        if isinstance(demand, Listed) and demand.next_at() >= scenario.seconds:
            what = f"the first event is at {demand.next_at():g} s, after the end of the run"
            raise Problem(what, remedy="set workload.scale, workload.begin or seconds")
    with _located("power"):
        return PreparedScenario(network, motion, demand, _batteries(scenario.power, known.names))


def _check_options_of_brokers(scenario: Scenario) -> None:
    """Raise Problem if the scenario to build names the brokers of a tree and also sets their
    number.
    """
    work = scenario.workload
    if isinstance(work, FailureDetection | GroupWorkload) or work.brokers is None:
        return
    for name, options in scenario.options.items():
        if "brokers" in options and named(name, "options").adapter.has_broker_tree:
            what = (
                f"options.{name}.brokers = {options['brokers']}: workload.brokers names the brokers"
            )
            raise Problem(what, where="scenario", remedy="leave out one of the two")


def _batteries(power: NodePower, names: Sequence[str]) -> float | Sequence[float] | None:
    """Return the batteries of a scenario's nodes in joules: one number for all nodes, or [n], or
    None without batteries.
    """
    if not isinstance(power.battery_j, str):
        return power.battery_j
    known, nodes = read_node_values(power.battery_j, "battery_j"), Names("node", names)
    capacities = [math.inf] * len(names)
    for name, value in known.items():
        capacities[nodes.number(name, power.battery_j)] = value
    return capacities


def _names(network: Network | None, motion: Motion | None) -> list[str]:
    """Return the names of the nodes of a scenario's network: the names in its file, or their
    rows.
    """
    if network is not None:
        return [network.label(row) for row in range(network.n)]
    assert motion is not None
    return list(motion.names or map(str, range(motion.n)))


def simulation_on(
    ready: PreparedScenario,
    scenario: Scenario,
    system: System,
    trace: Path | TraceSink | None = None,
) -> Simulation:
    """Build the simulation of a system on the prepared network or movement of a scenario."""
    return Simulation(
        system, ready.network, motion=ready.motion, workload=ready.demand, radio=scenario.radio,
        faults=scenario.faults, seconds=scenario.seconds, seed=scenario.seed,
        hello=_hello(scenario), discovery_delay_s=scenario.discovery_delay_s,
        window=scenario.window, options=options_of(scenario, system),
        stretch=scenario.stretch, inspection=Inspection(trace=trace),
        nodes=NodeSettings(
            power=_power(scenario.power), batteries=ready.battery_j, clock=scenario.clock
        ),
    )  # fmt: skip


def _hello(scenario: Scenario) -> SentHellos | None:
    """Return the hellos of a scenario's nodes, or None where neighbours are given."""
    if scenario.hello == "given":
        return None
    return SentHellos(scenario.hello_period_s, scenario.hello_neighbours)


def _power(power: NodePower) -> Power:
    """Return the power of a scenario's nodes, without their batteries."""
    return Power(power.tx_w, power.rx_w, power.idle_w, power.bit_rate)


def run_context(scenario: Scenario, ready: PreparedScenario) -> RunContext:
    """Build the run context of a prepared scenario, which adapters receive.

    Raises Problem where no system can run.
    """
    return checked_environment(scenario, ready)[1]


def checked_environment(
    scenario: Scenario, ready: PreparedScenario
) -> tuple[Environment, RunContext]:
    """Build the environment of a prepared scenario and its run context.

    Raises Problem where no system can run.
    """
    environment = Environment(
        ready.network, ready.motion, scenario.faults, seed=stream(scenario.seed, FAULTS),
        seconds=scenario.seconds, discovery_delay_s=scenario.discovery_delay_s,
    )  # fmt: skip
    context = context_of(
        environment, environment.flooded(ready.demand), scenario.faults,
        seconds=scenario.seconds, seed=scenario.seed, window=scenario.window,
    )  # fmt: skip
    course = None if ready.motion is None else ready.motion.course_of(scenario.seconds)
    scenario.radio.made(environment.start, course, scenario.seed)
    return environment, context


def other_purpose(system: System, scenario: Scenario) -> str:
    """Return the reason why a system cannot run with the purpose of a scenario's workload, or "".

    A failure detector spreads no events, and a system that spreads events detects no failures.
    """
    work = scenario.workload
    lists = isinstance(work, GroupWorkload) and work.views == "system"
    if lists and not system.adapter.lists_members:
        return 'it does not list members itself, which workload.views = "system" requires'
    detects = isinstance(work, FailureDetection)
    if detects == system.adapter.detects_failures:
        return ""
    if detects:
        return 'it spreads events, and workload.kind = "failure-detection" has no events'
    return 'it is a failure detector, which needs workload.kind = "failure-detection"'


def unsupported(system: System, scenario: Scenario, context: RunContext) -> str:
    """Return the reason why a system cannot run in a scenario's context or with its options, or
    "".
    """
    if why := other_purpose(system, scenario):
        return why
    try:
        return system.adapter_with(options_of(scenario, system)).unsupported(context)
    except Problem as problem:
        return problem.what


def link_columns(file: FromFile) -> LinkColumns:
    """Return the columns and limits with which the links of its file are read to build a scenario's
    network.
    """
    return LinkColumns(
        file.source, file.target, file.quality, file.over, file.under, file.both_ways
    )


def network_of(scenario: Scenario) -> tuple[Network | None, Motion | None]:
    """Build the network that a scenario names, or its moving nodes; the seed draws them."""
    match scenario.network:
        case UnitDisk(n=n, radius=radius, degree=degree):
            if (radius is None) == (degree is None):
                presence = "neither is given" if radius is None else "both are given"
                what = f"network.radius, network.degree: {presence}: expected exactly one"
                raise Problem(what, remedy="give either `radius` or `degree`")
            r = radius if radius is not None else radius_of_degree(n, degree or 0.0)
            return connected_unit_disk(n, r, scenario.seed).network, None
        case FromFile() as file:
            return read_network(
                file.path,
                link_columns(file),
                positions=file.positions,
                partial_positions=file.partial_positions,
                largest=file.largest,
            ), None
        case Backbone() as model:
            square = min(Waxman().square, model.side)  # the placement's square, unused here
            waxman_model = Waxman(model.n, model.m, beta=model.beta, side=model.side, square=square)
            return waxman(waxman_model, scenario.seed).network, None
        case Waypoint() as model:
            course = WaypointMotion(
                model.n,
                model.width,
                model.height,
                speed=model.speed,
                pause=model.pause,
                seconds=scenario.seconds,
                seed=scenario.seed,
            )
            return None, Motion(course, model.radius)
        case Recorded() as file:
            traces = _from(read_motion(file.path), file.begin_s)
            return None, Motion(traces.legs, file.radius, traces.presence, names=traces.names)


@contextlib.contextmanager
def _located(table: str) -> Iterator[None]:
    """Add the scenario's table to a Problem of building it that names no place."""
    try:
        yield
    except Problem as problem:
        if problem.where or problem.what.startswith(table):
            raise
        raise Problem(problem.what, where=table, remedy=problem.remedy) from None


def _from(traces: Traces, begin_s: float) -> Traces:
    """Return a scenario's recorded movement with its time `begin_s` as time 0."""
    legs, presence = traces.legs, traces.presence
    legs = Legs(legs.first, legs.t0 - begin_s, legs.t1 - begin_s, *legs[3:])
    presence = Presence(presence.first, presence.t0 - begin_s, presence.t1 - begin_s)
    return traces._replace(legs=legs, presence=presence)
