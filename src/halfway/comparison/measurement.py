"""One run of one system on one scenario, measured: the function that workers call."""

from halfway.comparison.metrics import observations
from halfway.comparison.points import contender_of, scenario_of
from halfway.pipeline.plan.inputs import check_inputs
from halfway.pipeline.plan.run import Observations, Run
from halfway.scenario.build import Stage, simulation_on, staged
from halfway.scenario.schema import Scenario

_LAST: dict[tuple[str, int], Stage] = {}  # what the last run met: the next one often does too


def run(run: Run) -> Observations:
    """A value a metric of `metrics.METRICS`, or none where the run has none; latency quantiles.

    Everything is drawn from the run's network seed, each part with dice of its own. So all systems
    of a replicate meet the same network, movement, roles, publications and faults.
    """
    scenario = scenario_of(run.parameters, run.network_seed)
    with run.timed("network"):
        stage = _stage(scenario, run)
    with run.timed("run"):
        system = contender_of(run.parameters).system()
        return observations(simulation_on(stage, scenario, system))


def _stage(scenario: Scenario, run: Run) -> Stage:
    key = (run["scenario"], scenario.seed)
    if key in _LAST:
        return _LAST[key]
    check_inputs(run.parameters)  # what they say now must not be kept as what they said then
    stage = staged(scenario)
    if stage.motion is None:  # a movement is told once, and then over
        _LAST.clear()
        _LAST[key] = stage
    return stage
