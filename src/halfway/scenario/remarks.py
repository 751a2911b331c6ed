"""The remarks on a scenario: skipped content of its files, work that does not fit into the run, and
systems that do not use named brokers.
"""

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from halfway.adapters.interface import System
from halfway.problem import Problem
from halfway.scenario.build import PreparedScenario
from halfway.scenario.schema import (
    FailureDetection,
    GroupWorkload,
    Recorded,
    RecordedWorkload,
    Scenario,
)
from halfway.sim.radio.declarations import CsmaRadio, DistanceRadio, IdealRadio
from halfway.world.faults import Churn
from halfway.world.importers.link_quality import is_one_way, repeated_links
from halfway.world.importers.network_file import table_of
from halfway.world.mobility.motion import Legs
from halfway.world.workload.demand import Listed

EVENTS_AT_ONCE = 10_000  # that a drawn demand draws at once, for a count of all


def remarks_of(scenario: Scenario, ready: PreparedScenario) -> tuple[str, ...]:
    """Return the remarks on a scenario and its files, one sentence each, for the user.

    The remarks do not depend on the system, and hardly on the seed.
    """
    read = ready.network.remarks if ready.network is not None else ()
    remarks = (
        *read,
        *_on_ratios(scenario),
        *_on_motion(scenario, ready),
        *_on_workload(scenario, ready),
        *_on_faults(scenario),
        *_on_hellos(scenario),
    )
    return tuple(dict.fromkeys(remarks))  # a file of links may also be the file of their ratios


def on_ended_subscriptions(
    ready: PreparedScenario, scenario: Scenario, systems: Sequence[System]
) -> tuple[str, ...]:
    """Return the remark on a scenario's systems that cannot end a subscription, or ()."""
    until = [until_s for _, until_s in ready.demand.periods.values()]
    deaf = [system.name for system in systems if not system.adapter_with({}).ends_subscriptions()]
    if not deaf or min(until, default=math.inf) >= scenario.seconds:
        return ()
    which = "this system does" if len(deaf) == 1 else "these systems do"
    return (
        f"{which} not learn that a subscription ends, so notifications after this end still "
        f"cost messages, and count as unsolicited: {', '.join(deaf)}",
    )


def on_named_brokers(ready: PreparedScenario, systems: Sequence[System]) -> tuple[str, ...]:
    """Return the remark on a scenario's systems that do not use the named brokers of the workload,
    or ().
    """
    without = [system.name for system in systems if not system.adapter.has_broker_tree]
    if not ready.demand.brokers or not without:
        return ()
    which = "this system, which has" if len(without) == 1 else "these systems, which have"
    return (f"workload.brokers has no effect on {which} no broker tree: {', '.join(without)}",)


def _on_ratios(scenario: Scenario) -> Iterator[str]:
    """Yield the remark that a scenario's table of ratios with one direction of each link is used
    for both directions.
    """
    radio = scenario.radio
    if not isinstance(radio, IdealRadio | DistanceRadio | CsmaRadio) or radio.ratios is None:
        return
    path = Path(radio.ratios)
    table = table_of(path)
    if is_one_way(table, radio.ratio_columns):
        name = radio.ratio_columns[0]
        yield f"{path.name}: each link is in the table once, so {name} holds in both directions"
    if repeated := repeated_links(table, radio.ratio_columns):
        links = (
            "1 link has several lines"
            if repeated == 1
            else (f"{repeated:,} links have several lines")
        )
        yield f"{path.name}: {links}, and the greatest ratio counts"


def _on_motion(scenario: Scenario, ready: PreparedScenario) -> Iterator[str]:
    """Yield the remark that recorded movement ends before the run does.

    Raises Problem if no node exists after `begin_s`.
    """
    motion = ready.motion
    if motion is None or motion.presence is None or not isinstance(scenario.network, Recorded):
        return
    end = float(motion.presence.t1.max(initial=0.0))
    if isinstance(motion.course, Legs) and end < scenario.seconds:
        name = Path(scenario.network.path).name
        if end <= 0.0:
            what = f"{name}: no node exists after begin_s = {scenario.network.begin_s:g}"
            raise Problem(what, where="network", remedy="use a smaller begin_s")
        run = f"the end of the run (seconds = {scenario.seconds:g})"
        yield f"{name}: the last node leaves at {end:g} s, before {run}"


def _on_workload(scenario: Scenario, ready: PreparedScenario) -> Iterator[str]:
    """Yield the remark on events that are due after the end of the run."""
    work, seconds = scenario.workload, scenario.seconds
    if isinstance(work, RecordedWorkload):
        yield from _on_recorded_events(ready, seconds)
        return
    if isinstance(work, FailureDetection | GroupWorkload):
        nothing = "no metric counts"
    elif work.events:
        nothing = "no event is published"
    else:
        return
    if work.start_s >= seconds:
        yield (
            f"{nothing}: workload.start_s = {work.start_s:g}, and the run ends at "
            f"seconds = {seconds:g}"
        )
        return
    if isinstance(work, FailureDetection | GroupWorkload):
        return
    if ready.demand.publishing_periods:
        yield from _on_absent_publishers(ready, seconds, work.events)
        return
    if work.arrivals == "regular":
        fitting = min(math.ceil((seconds - work.start_s) / work.every_s), work.events)
        if work.start_s + (fitting - 1) * work.every_s >= seconds:  # rounding of the quotient
            fitting -= 1
        missing = f"{work.events - fitting:,}"
    else:
        fitting = _fitting(ready, seconds, work.events)
        missing = f"about {work.events - fitting:,}"
    if fitting < work.events:
        yield (
            f"{missing} of {work.events:,} events are not published: they are due after the end "
            f"of the run (seconds = {seconds:g})"
        )


def _on_absent_publishers(ready: PreparedScenario, seconds: float, events: int) -> Iterator[str]:
    """Yield the remark on events at whose time no publisher is there, or the run is over."""
    if (missing := events - _fitting(ready, seconds, events)) > 0:
        yield (
            f"{missing:,} of {events:,} events are not published: they are due when no publisher "
            f"is there, or after the end of the run (seconds = {seconds:g})"
        )


def _on_recorded_events(ready: PreparedScenario, seconds: float) -> Iterator[str]:
    """Yield the remark on events of files that are due after the end of the run."""
    demand = ready.demand
    assert isinstance(demand, Listed)
    events = len(demand.publications)
    missing = sum(t >= seconds for t, _, _ in demand.publications)
    if missing:
        yield (
            f"{missing:,} of {events:,} recorded events are not published: they are due after the "
            f"end of the run (seconds = {seconds:g})"
        )


def _fitting(ready: PreparedScenario, seconds: float, events: int) -> int:
    """Return how many events of a scenario's drawn demand fit into the run, for this seed."""
    demand, fitting = ready.demand.begun_again(), 0
    while fitting < events and (some := len(demand.next_publications(seconds, EVENTS_AT_ONCE).t)):
        fitting += some
    return fitting


def _on_faults(scenario: Scenario) -> Iterator[str]:
    """Yield the remarks on faults that begin after the end of the run, or select no node."""
    for index, fault in enumerate(scenario.faults):
        kind = fault.__struct_config__.tag
        if getattr(fault, "share", None) == 0.0:
            yield f"faults[{index}] ({kind}) has no effect: share = 0 selects no node"
        elif not isinstance(fault, Churn) and fault.at >= scenario.seconds:
            yield (
                f"faults[{index}] ({kind}) has no effect: at = {fault.at:g}, and the run ends at "
                f"seconds = {scenario.seconds:g}"
            )


def _on_hellos(scenario: Scenario) -> Iterator[str]:
    """Yield the remarks on fields of neighbour discovery in a scenario that other fields make
    ineffective.
    """
    default = {field.name: field.default for field in msgspec.structs.fields(Scenario)}
    if scenario.hello == "given":
        for name in ("hello_period_s", "hello_neighbours"):
            if getattr(scenario, name) != default[name]:
                yield f'{name} has no effect: hello = "given", so no node sends a hello'
    elif scenario.discovery_delay_s != default["discovery_delay_s"]:
        yield (
            'discovery_delay_s has no effect on neighbour lists: hello = "sent", so nodes learn '
            "their neighbours from hellos"
        )
