"""What a comparison runs, as points of a sweep; what a worker needs is in them, as text."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from halfway.adapters.interface import System
from halfway.adapters.registry import named
from halfway.adapters.user_protocol import UserSource, user_system
from halfway.pipeline.plan.inputs import inputs_of, name_of
from halfway.pipeline.plan.run import Point, Scalar, unsigned
from halfway.scenario.reading import input_files, with_files
from halfway.scenario.schema import Scenario

MEASUREMENT = "halfway.comparison.measurement:run"
# What does not change a run of one system: its own options travel beside the scenario.
_ASIDE = ("title", "options", "sweep")
_COST_MS = 150.0  # a guess, which the first wave corrects


class Contender(NamedTuple):
    """A system that is compared: one of ours by its name, or the user's own by its text."""

    name: str
    text: str = ""  # of the user's own module

    def system(self) -> System:
        """The system itself; Problem in one line where the user's module is none."""
        return user_system(UserSource(*self)) if self.text else named(self.name)


def point_of(scenario: Scenario, contender: Contender) -> Point:
    """One system on one scenario. Points of one scenario meet the same networks, whoever runs."""
    # A network is what is in its files, not where they lie: a copy elsewhere draws the same seeds.
    names = {file: name_of(file) for file in input_files(scenario)}
    plain = plain_of(with_files(scenario, names.__getitem__))
    options = json.dumps(plain["options"].get(contender.name, {}), sort_keys=True)
    parameters: dict[str, Scalar] = {
        "scenario": json.dumps({k: v for k, v in plain.items() if k not in _ASIDE}, sort_keys=True),
        "system": contender.name,
    }
    if names:
        parameters["inputs"] = json.dumps({name: file for file, name in names.items()})
    if options != "{}":
        parameters["options"] = options
    if contender.text:
        parameters["source"] = contender.text
    return Point(MEASUREMENT, parameters, ("scenario",), _COST_MS)


def scenario_of(parameters: Mapping[str, Scalar], network_seed: int) -> Scenario:
    """The scenario of one run: what `point_of` put aside, put back, and the run's own seed."""
    plain = json.loads(str(parameters["scenario"]))
    system = str(parameters["system"])
    plain |= {"options": {system: json.loads(str(parameters.get("options", "{}")))}}
    seed = seed_of(network_seed)
    scenario = msgspec.convert(plain | {"system": system, "seed": seed}, Scenario)
    return with_files(scenario, inputs_of(parameters).__getitem__)


def seed_of(network_seed: int) -> int:
    """The scenario's seed of a run: `halfway simulate --seed` of it is that very run."""
    return unsigned(network_seed) >> 1  # a whole number of TOML has 63 bits


def contender_of(parameters: Mapping[str, Scalar]) -> Contender:
    """The system of a run."""
    return Contender(str(parameters["system"]), str(parameters.get("source", "")))


def plain_of(scenario: Scenario) -> dict[str, Any]:
    """A scenario with every default filled in, as plain values, but for what each run sets."""
    plain: dict[str, Any] = msgspec.to_builtins(scenario)
    del plain["seed"], plain["system"]
    for fault in plain["faults"]:
        if fault.get("nodes"):  # a set: its order is the process's own
            fault["nodes"].sort(key=lambda node: (isinstance(node, str), node))
    return plain
