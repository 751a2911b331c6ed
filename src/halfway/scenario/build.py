"""From a scenario to a simulation: the network, the movement and the workload that it names."""

import contextlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from halfway.adapters.interface import System, Value
from halfway.adapters.registry import named
from halfway.problem import Problem
from halfway.scenario.schema import Backbone, FromFile, Recorded, Scenario, UnitDisk, Waypoint
from halfway.sim.environment.mobility import Motion
from halfway.sim.radio.energy import Power
from halfway.sim.simulation import Simulation
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.importers.network import read_network
from halfway.world.mobility.motion import Legs, Presence
from halfway.world.mobility.random_waypoint import Wandering
from halfway.world.mobility.trace_files import Traces, read_motion
from halfway.world.underlays.waxman import Waxman, waxman
from halfway.world.workload.demand import Drawn


class Stage(NamedTuple):
    """What every system meets: drawn or read once, shared by all runs of one seed."""

    network: Network | None  # that stands, or …
    motion: Motion | None  # … nodes that move
    demand: Drawn


def simulation_of(
    scenario: Scenario, *, system: str | System | None = None, trace: Path | None = None
) -> Simulation:
    """The simulation that a scenario describes, of its system or of another one.

    The scenario's seed draws the network, the roles and everything else, each with dice of its
    own, so that another system meets the same network and the same workload.
    """
    chosen = scenario.system if system is None else system
    if isinstance(chosen, str):
        chosen = named(chosen)  # a slip of the finger is told before a network is drawn
    return simulation_on(staged(scenario), scenario, chosen, trace)


def staged(scenario: Scenario) -> Stage:
    """The network or the movement that a scenario names, and its workload there."""
    with _told_of("network"):
        network, motion = network_of(scenario)
    n = network.n if network is not None else motion.n if motion is not None else 0
    with _told_of("workload"):
        return Stage(network, motion, demand_of(scenario, n))


def simulation_on(
    stage: Stage, scenario: Scenario, system: System, trace: Path | None = None
) -> Simulation:
    """The simulation of a system on a stage of that scenario."""
    options: Mapping[str, Value] = scenario.options.get(system.name, {})
    return Simulation(
        system, stage.network, motion=stage.motion, workload=stage.demand, radio=scenario.radio,
        faults=scenario.faults, seconds=scenario.seconds, seed=scenario.seed,
        hello_s=scenario.hello_s, window=scenario.window, options=options,
        power=Power(**msgspec.structs.asdict(scenario.power)), trace=trace,
        stretch=scenario.stretch,
    )  # fmt: skip


def network_of(scenario: Scenario) -> tuple[Network | None, Motion | None]:
    """The network that a scenario names, or its moving nodes; drawn ones by the seed."""
    match scenario.network:
        case UnitDisk(n=n, radius=radius, degree=degree):
            if (radius is None) == (degree is None):
                raise Problem("network: either `radius` or `degree` is wanted, and not both")
            r = radius if radius is not None else radius_of_degree(n, degree or 0.0)
            return connected_unit_disk(n, r, scenario.seed).network, None
        case FromFile() as file:
            return read_network(
                file.path, quality=file.quality, threshold=file.over, both_ways=file.both_ways,
                positions_from=file.positions, largest=file.largest,
            ), None  # fmt: skip
        case Backbone() as model:
            square = min(Waxman().square, model.side)  # of a placement that is not used here
            given = Waxman(model.n, model.m, beta=model.beta, side=model.side, square=square)
            return waxman(given, scenario.seed).network, None
        case Waypoint() as model:
            course = Wandering(
                model.n, model.width, model.height, speed=model.speed, pause=model.pause,
                seconds=scenario.seconds, seed=scenario.seed,
            )  # fmt: skip
            return None, Motion(course, model.radius)
        case Recorded() as file:
            traces = _from(read_motion(file.path), file.begin_s)
            return None, Motion(traces.legs, file.radius, traces.presence)


def demand_of(scenario: Scenario, n: int) -> Drawn:
    """The workload of a scenario among n nodes."""
    plain = msgspec.structs.asdict(scenario.workload)
    return Drawn(n=n, seed=scenario.seed, **plain)


@contextlib.contextmanager
def _told_of(table: str) -> Iterator[None]:
    """Name the table of the scenario that a Problem is about, where it names no place itself."""
    try:
        yield
    except Problem as problem:
        if problem.where or problem.what.startswith(table):
            raise
        raise Problem(problem.what, where=table, remedy=problem.remedy) from None


def _from(traces: Traces, begin_s: float) -> Traces:
    """The same movement, with that time as its 0."""
    legs, presence = traces.legs, traces.presence
    legs = Legs(legs.first, legs.t0 - begin_s, legs.t1 - begin_s, *legs[3:])
    presence = Presence(presence.first, presence.t0 - begin_s, presence.t1 - begin_s)
    return traces._replace(legs=legs, presence=presence)
