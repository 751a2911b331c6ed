"""The plan of a comparison: a point for each scenario and system as text, and the simulation of one
planned run on a worker.

A point carries all that a worker needs: the scenario, the system, and a user system's source. The
module `evaluation/metrics.py` turns the outcome of the run into observations.
`docs/decisions/0025` says what a run carries.
"""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from halfway.adapters.interface import System
from halfway.adapters.registry import named
from halfway.adapters.user_protocol import UserSource, user_system
from halfway.comparison.evaluation.metrics import observations
from halfway.pipeline.plan.inputs import check_inputs, inputs_of, name_of
from halfway.pipeline.plan.run import Observations, Point, Run, Scalar, scenario_seed
from halfway.scenario import schema
from halfway.scenario.build import PreparedScenario, prepared, simulation_on
from halfway.scenario.reading import input_files, with_files
from halfway.scenario.schema import Scenario, converted

MEASUREMENT = "halfway.comparison.plan:run"
_COST_MS = 150.0  # a guess, which the first batch corrects
# The system of the last run, because the next run often has the same system.
_LAST: dict[tuple[str, int], PreparedScenario] = {}


class SystemSource(NamedTuple):
    """A planned point's system: a built-in one by its name, or a user system by its source text."""

    name: str
    text: str = ""  # of the user's module; "" for a built-in system

    def system(self) -> System:
        """Return the system that the plan of a comparison names. Raises Problem if the user's
        module does not define one.
        """
        return user_system(UserSource(*self)) if self.text else named(self.name)


def point_of(scenario: Scenario, source: SystemSource) -> Point:
    """Return the point of a system in the plan of a comparison on a scenario. All systems get the
    same networks.
    """
    # Files are named by their content, so that a copy elsewhere gets the same seeds.
    names = {file: name_of(file) for file in input_files(scenario)}
    plain = plain_of(with_files(scenario, names.__getitem__))
    options = json.dumps(plain.pop("options").get(source.name, {}), sort_keys=True)
    del plain["title"], plain["sweep"], plain["decision"]  # they change no run
    text = json.dumps(plain, sort_keys=True)
    parameters: dict[str, Scalar] = {"scenario": text, "system": source.name}
    if names:
        parameters["inputs"] = json.dumps({name: file for file, name in names.items()})
    if options != "{}":
        parameters["options"] = options
    if source.text:
        parameters["source"] = source.text
    return Point(MEASUREMENT, parameters, ("scenario",), _COST_MS)


def scenario_of(parameters: Mapping[str, Scalar], network_seed: int) -> Scenario:
    """Return the scenario of one run in the plan of a comparison, with its options, its system and
    its own seed.
    """
    plain = json.loads(str(parameters["scenario"]))
    system = str(parameters["system"])
    plain |= {"options": {system: json.loads(str(parameters.get("options", "{}")))}}
    seed = scenario_seed(network_seed)
    scenario = converted(plain | {"system": system, "seed": seed})
    return with_files(scenario, inputs_of(parameters).__getitem__)


def source_of(parameters: Mapping[str, Scalar]) -> SystemSource:
    """Return the system of one run in the plan of a comparison."""
    return SystemSource(str(parameters["system"]), str(parameters.get("source", "")))


def plain_of(scenario: Scenario) -> dict[str, Any]:
    """Return the scenario of a planned point as plain values with defaults, without the fields that
    each planned run sets.
    """
    plain = schema.plain(scenario)
    del plain["seed"], plain["system"]
    for fault in plain["faults"]:
        if fault.get("nodes"):  # the order of a set differs between processes
            fault["nodes"].sort(key=lambda node: (isinstance(node, str), node))
    return plain


def run(run: Run) -> Observations:
    """Make a planned run of a comparison; return the value of each metric, if it has one, and
    latency quantiles.

    All randomness derives from the network seed of the run, with one stream for each part. So all
    systems of a replicate get the same network, movement, roles, publications and faults.
    """
    scenario = scenario_of(run.parameters, run.network_seed)
    with run.timed("network"):
        parts = _parts(scenario, run)
    with run.timed("run"):
        return observations(simulation_on(parts, scenario, source_of(run.parameters).system()))


def _parts(scenario: Scenario, run: Run) -> PreparedScenario:
    key = (run["scenario"], scenario.seed)
    if key in _LAST:
        return _LAST[key]
    check_inputs(run.parameters)  # before it is kept: a file may have changed since the plan
    parts = prepared(scenario)
    if parts.motion is None:  # a movement can be played only once
        _LAST.clear()
        _LAST[key] = parts
    return parts
