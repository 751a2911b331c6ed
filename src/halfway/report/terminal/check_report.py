"""The report of `halfway check` as text and JSON: networks, systems, runs and time of a
comparison.
"""

from collections.abc import Iterator, Sequence

import msgspec
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from halfway.comparison.scenario_check import Check
from halfway.report.wording import count

_SHOWN = 8  # names in a list


def check_json(found: Check) -> str:
    """Return the check of a comparison as one JSON object."""
    return msgspec.json.encode(found).decode()


def print_check(console: Console, checked: Check) -> None:
    """Print the check of a comparison: network, weak points, roles, systems, runs, notes."""
    console.print(Text(checked.title, style="bold"))
    table = Table(box=box.SIMPLE, show_header=False, show_edge=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in _facts(checked):
        table.add_row(Text(name), Text(text))
    console.print(table, highlight=False)
    for name, why in checked.unsupported.items():
        console.print(Text(f"{name} cannot run here: {why}"))
    for warning in checked.survey.warnings:
        console.print(Text(f"warning: {warning}"))
    for note in checked.notes:
        console.print(Text(f"note: {note}"))


def _facts(checked: Check) -> Iterator[tuple[str, str]]:
    """Yield the rows of a printed check."""
    topology, roles = checked.survey.topology, checked.survey.roles
    moving = ", moving" if topology.over_time else f", {count(topology.links, 'link')}"
    yield "network", f"{count(topology.nodes, 'node')}{moving}"
    for instant in topology.over_time:
        yield (
            f"at {instant.at_s:g} s",
            f"{count(instant.nodes, 'node')}, {count(instant.links, 'link')}, "
            f"{count(instant.largest_component, 'node')} in the largest component",
        )
    yield "positions", "yes" if topology.positions else "no"
    if not topology.over_time:
        yield from _fixed(checked)
    yield "topics", f"{roles.topics:,}"
    yield "publishers", _listed(roles.publishers)
    yield "subscribers", _listed(roles.subscribers)
    least = "" if roles.counted_all else "at least "
    asked = f" of {roles.events:,}" if roles.events >= 0 else ""
    yield "events", f"{least}{roles.events_that_fit:,}{asked} fit into the run"
    yield "faults", f"{checked.survey.faults:,}"
    yield "systems", f"{len(checked.systems)}: {', '.join(checked.systems)}"
    points = f"{checked.points:,} points × " if checked.points > 1 else ""
    replicates = count(checked.replicates, "replicate")
    runs = f"{points}{count(len(checked.systems), 'system')} × {replicates}"
    yield "runs", f"{checked.runs:,} = {runs}"
    cores = count(checked.cores, "core")
    yield "time", f"{_minutes(checked.estimated_minutes)} on {cores}, a rough estimate"


def _fixed(checked: Check) -> Iterator[tuple[str, str]]:
    """Yield the rows of a printed check on a network that does not move."""
    topology = checked.survey.topology
    parts = f"{topology.components:,} (the largest has {count(topology.largest_component, 'node')})"
    yield "components", parts
    low, mean, high = topology.least_degree, topology.mean_degree, topology.most_degree
    yield "degree", f"mean {mean:.3g}, from {low:,} to {high:,}"
    yield "cut nodes", _listed(topology.cut_nodes)
    yield "bridges", _listed([f"{a} - {b}" for a, b in topology.bridges])


def _listed(names: Sequence[str]) -> str:
    """Return the count of a check's names, and the first of them."""
    if not names:
        return "0"
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return f"{len(names):,}: {', '.join(names[:_SHOWN])}{more}"


def _minutes(minutes: float) -> str:
    if minutes < 1.0:
        return "less than 1 minute"
    if minutes < 120.0:
        return f"about {minutes:.0f} min"
    return f"about {minutes / 60.0:,.0f} h"
