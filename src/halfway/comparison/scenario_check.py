"""The check of a comparison before it runs: its networks, systems, number of runs, and time."""

import msgspec

from halfway.comparison.plan import plain_of, point_of, scenario_of
from halfway.comparison.request import Request
from halfway.pipeline.plan.sweep_plan import ROOT_SEED, plan
from halfway.scenario.survey import Survey, survey
from halfway.scenario.system_notes import notes_before_runs

_SPARK_S = 10.0  # from the start of Spark to the first run
# An estimate, not a bound: seconds for one record of an event on one link, over typical systems.
_RECORD_S = 2e-7


class Check(msgspec.Struct, frozen=True):
    """The result of `halfway check`: the survey of the first replicate, the systems, the runs."""

    title: str
    scenario: dict[str, object]
    survey: Survey
    systems: list[str]
    unsupported: dict[str, str]  # system -> why
    notes: list[str]  # that the comparison prints too: on the files, the workload, the options
    points: int
    replicates: int
    runs: int
    cores: int
    estimated_minutes: float  # without the time to compile systems


def check(request: Request, *, cores: int, seed: int | None = None) -> Check:
    """Check a comparison's request: survey the network of its first run, and count the runs.

    Raises Problem for everything that a run would refuse before its start.
    """
    root = ROOT_SEED if seed is None else seed
    first = plan([point_of(request.points[0].scenario, request.systems[0])], 1, root).to_pylist()[0]
    parameters = msgspec.json.decode(first["parameters"])
    facts = survey(scenario_of(parameters, first["network_seed"]))
    every = [
        point_of(point.scenario, system) for point in request.points for system in request.systems
    ]
    runs = plan(every, request.replicates, root)
    records = facts.roles.events_that_fit * 2 * max(facts.topology.links, 1)
    systems = [system.system() for system in request.systems]
    known = notes_before_runs([point.scenario for point in request.points], systems)
    serial_s = sum(runs["cost_ms"].to_pylist()) / 1e3 + runs.num_rows * records * _RECORD_S
    return Check(
        title=request.scenario.title,
        scenario=plain_of(request.scenario),
        survey=facts,
        systems=[system.name for system in request.systems],
        unsupported=dict(request.unsupported),
        notes=[*request.remarks, *known],
        points=len(request.points),
        replicates=request.replicates,
        runs=runs.num_rows,
        cores=cores,
        estimated_minutes=(_SPARK_S + serial_s / max(cores, 1)) / 60.0,
    )
