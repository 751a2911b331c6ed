"""`halfway testbed`: a system on a scenario, simulated, and then run by real nodes on the air."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from msgspec.structs import replace

from halfway.core.hello.sending import HELLO_PERIOD_S
from halfway.live.air.air import Air
from halfway.live.air.air_host import AirHost, AirSettings
from halfway.live.air.air_keys import AirKeys
from halfway.live.air.datagram_account import Account, account
from halfway.live.limits import Limits
from halfway.live.systems.live_systems import simulated_defaults
from halfway.live.trace.live_replay import Replayed, replay
from halfway.scenario.acknowledgements import options_of
from halfway.scenario.build import PreparedScenario, prepared, run_context, simulation_on, system_of
from halfway.scenario.schema import Scenario
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.run_context import FAULTS, stream
from halfway.testbed.agreement import Beside, beside
from halfway.testbed.course import Course
from halfway.testbed.live_run import NOTHING_KEPT, Keeping, LiveProgress, LiveResult, LiveRun
from halfway.testbed.placed import Placed, placed
from halfway.testbed.testbed_metrics import RunMeasures, of_outcome
from halfway.testbed.unsupported import check_suitable, delay_of, limits_for

_LOG = 4096  # records of each node that wait to be written


class SideBySide(NamedTuple):
    """The simulated and the live metrics of one system, side by side."""

    system: str
    nodes: int
    rows: list[Beside]
    simulated: list[RunMeasures]
    live: LiveResult
    replayed: list[Replayed]  # of the nodes that were recorded
    account: Account  # of all datagrams

    @property
    def agrees(self) -> bool:
        """Whether a run of `halfway testbed` agrees with its simulation, and its records with their
        replay.
        """
        agree = all(row.agrees is not False for row in self.rows)
        return agree and all(replay.is_same for replay in self.replayed)


def run_beside(
    scenario: Scenario,
    system: str,
    *,
    replicates: int,
    announce: Callable[[str], None],
    progress: Callable[[LiveProgress], None],
    keeping: Keeping = NOTHING_KEPT,
    has_keys: bool = False,
) -> SideBySide:
    """Simulate a system on a scenario and run it live, on the same network, workload and faults.
    Losses, and the nodes' random numbers, differ between runs.

    announce: called with what happens now. has_keys: whether the real nodes have keys. Raises
    Problem for what cannot run on the air.
    """
    check_suitable(scenario, system)
    ready = prepared(scenario)
    context = run_context(scenario, ready)
    limits = limits_for(context.n, context.most_neighbours)
    # Real nodes have the options of the simulated ones, not the defaults of live nodes.
    options = simulated_defaults(system) | options_of(scenario, system_of(scenario, system))
    places = placed(system, options, context.start, context.reach is not None)
    announce(f"{system}: {replicates} simulated runs")
    simulated = [_simulated(scenario, ready, system, k) for k in range(replicates)]
    keys = AirKeys(context.n) if has_keys else None
    settings = _air_settings(scenario, system, places, limits)
    settings = settings._replace(log=_LOG if any(keeping) else 0, keys=keys)
    announce(f"{system}: {context.n} nodes on the air")
    delay = delay_of(scenario, ready.network, scenario.seed)
    with Air(context.n, delay=delay) as air:
        air.set_loss(1.0 - getattr(scenario.radio, "success", 1.0))
        live = asyncio.run(_live(air, settings, scenario, ready, progress, keeping))
        live = live._replace(queue=air.close())
    records = keeping.records
    paths = sorted(records.glob("*.trace")) if records else []
    replayed = [outcome for path in paths for outcome in replay(path)]
    rows = beside(simulated, live.measured)
    sums = account(context.n, live.datagrams, live.air, live.queue)
    return SideBySide(system, context.n, rows, simulated, live, replayed, sums)


def _air_settings(scenario: Scenario, system: str, places: Placed, limits: Limits) -> AirSettings:
    """Return the settings of the real nodes of a scenario."""
    return AirSettings(
        system,
        places.options,
        scenario.hello_period_s if scenario.hello == "sent" else HELLO_PERIOD_S,
        scenario.seed,
        limits=limits,
        positions=places.positions,
    )


def _simulated(
    scenario: Scenario, ready: PreparedScenario, system: str, replicate: int
) -> RunMeasures:
    """Return one simulated run on the network, the workload and the faults of the scenario."""
    other = replace(scenario, seed=scenario.seed + replicate, stretch=False)
    run = simulation_on(ready, other, system_of(scenario, system))
    return of_outcome(run.run())


async def _live(
    air: Air,
    settings: AirSettings,
    scenario: Scenario,
    ready: PreparedScenario,
    progress: Callable[[LiveProgress], None],
    keeping: Keeping,
) -> LiveResult:
    environment = Environment(
        ready.network,
        ready.motion,
        scenario.faults,
        seed=stream(scenario.seed, FAULTS),
        seconds=scenario.seconds,
        discovery_delay_s=None,
    )
    async with AirHost(air, settings) as host:
        run = LiveRun(
            air,
            host,
            Course(environment),
            ready.demand,
            seconds=scenario.seconds,
            on_progress=progress,
            keeping=keeping,
        )
        return await run.run()
