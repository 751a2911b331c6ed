"""`halfway.groups(...)`: groups of a scenario in a simulation, whose members a program drives."""

from collections.abc import Mapping
from typing import Any

from halfway.adapters.interface import Unsupported
from halfway.adapters.registry import named
from halfway.api.arguments import (
    changes_argument,
    count_argument,
    scenario_argument,
    text_argument,
)
from halfway.problem import Problem
from halfway.scenario.build import other_purpose, prepared, simulation_on, system_of
from halfway.scenario.group_members import with_messages
from halfway.scenario.reading import ScenarioSource, read_scenario
from halfway.scenario.schema import GroupWorkload
from halfway.sim.simulated_groups import SimulatedGroups


def groups(
    scenario: ScenarioSource,
    system: str | None = None,
    *,
    seed: int | None = None,
    set: Mapping[str, object] | None = None,
    reaction_s: float = 0.1,
    addressed: bool = True,
    **fields: object,
) -> SimulatedGroups:
    """Open the groups of a scenario in a simulation at time 0, for a program that drives them.

    scenario, system, seed, set, fields: as in `halfway.simulate`. The workload has the kind
    "groups", without requests. reaction_s: seconds from a call of `SimulatedGroups.send` or
    `SimulatedGroups.cast` until the message is published. addressed: whether members may send to
    one member. Then each member has a topic of its own, which costs walks and subscriptions.
    Raises Problem for errors that you can fix.
    """
    changed: dict[str, Any] = {**changes_argument(set or {}), **changes_argument(fields)}
    if seed is not None:
        changed["seed"] = str(count_argument(seed, "seed", 1))
    name = text_argument(system, "system", "flooding")
    if name:
        named(name, "system")  # an unknown name is reported before the scenario is read
    read = read_scenario(scenario_argument(scenario), changed, {})
    work = read.workload
    if not isinstance(work, GroupWorkload) or work.requests is not None:
        what = "workload: expected groups without requests"
        raise Problem(what, remedy='set workload.kind = "groups", and leave out workload.requests')
    chosen = system_of(read, name)
    if why := other_purpose(chosen, read):
        raise Unsupported(f"{chosen.name} cannot run here: {why}", where="workload")
    ready = prepared(read)
    demand = with_messages(ready.demand, reaction_s, addressed)
    return SimulatedGroups(simulation_on(ready._replace(demand=demand), read, chosen))
