"""The notes on a scenario that depend on no run: on limits of systems, the radio and options."""

import math
from collections.abc import Iterator, Sequence

from halfway.adapters.interface import ComparedRuns, System
from halfway.scenario.option_notes import option_notes
from halfway.scenario.schema import AnyWorkload, Scenario, Workload
from halfway.sim.radio.declarations import DistanceRadio, IdealRadio
from halfway.world.faults import loses_memory


def system_notes(scenarios: Sequence[Scenario], systems: Sequence[System]) -> Iterator[str]:
    """Yield the notes on the limits of systems from their adapters, equal ones once, after the
    systems' names.

    scenarios: one for each point of a comparison, or the scenario of one run.
    """
    publishers = max(_publishers(scenario.workload) for scenario in scenarios)
    first_event_s = min(getattr(scenario.workload, "start_s", 0.0) for scenario in scenarios)
    lossy = any(_lossy(scenario) for scenario in scenarios)
    forgets = any(loses_memory(scenario.faults) for scenario in scenarios)
    named: dict[str, list[str]] = {}
    for system in systems:
        options = [scenario.options.get(system.name, {}) for scenario in scenarios]
        runs = ComparedRuns(options, publishers, first_event_s, lossy, forgets)
        for note in system.adapter.notes(runs):
            named.setdefault(note, []).append(system.name)
    for note, names in named.items():
        yield f"{', '.join(names)}: {note}"


def notes_before_runs(scenarios: Sequence[Scenario], systems: Sequence[System]) -> tuple[str, ...]:
    """Return the notes on scenarios that depend on no run: on the limits of systems, the radio and
    the options.
    """
    of_systems = (*system_notes(scenarios, systems), *_on_radio(scenarios))
    return (*of_systems, *option_notes(scenarios, systems))


def _on_radio(scenarios: Sequence[Scenario]) -> Iterator[str]:
    if any(isinstance(one.radio, IdealRadio | DistanceRadio) for one in scenarios):
        yield (
            "A radio without contention has no overhearing, so a unicast costs only its receiver. "
            "Such a radio favours walks and trees in energy and load."
        )


def _publishers(workload: AnyWorkload) -> float:
    """Return the largest number of publishers of a topic in a noted scenario, or inf if they have
    names.
    """
    if not isinstance(workload, Workload) or workload.publishers is not None:
        return math.inf
    return workload.publishers_each


def _lossy(scenario: Scenario) -> bool:
    """Return whether a noted scenario's radio loses records and retransmits none."""
    radio = scenario.radio
    if not isinstance(radio, IdealRadio | DistanceRadio):
        return False  # a radio with contention retransmits unicasts
    return radio.success < 1.0 or radio.ratios is not None
