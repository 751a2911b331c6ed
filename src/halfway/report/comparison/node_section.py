"""The section of a comparison page with the nodes of one run: tables and heat maps of load."""

from collections.abc import Sequence
from html import escape

import numpy as np

from halfway.comparison.replay.replay import Replay
from halfway.report import wording
from halfway.report.comparison.plots.system_marks import badge
from halfway.report.document import section
from halfway.sim.metrics.nodes import NodeTable

_MOST_ROWS = 100  # most rows of a table; `halfway simulate --nodes` writes all
_MOST_PRINTED = 10  # on paper
_MOST_BARS = 60
_CLASSES = 10  # of the heat map
_SIZE, _MARGIN = 340.0, 8.0
_HEADS = ("load", "sent", "received", "energy [J]", "expected", "lost")


def node_section(replays: Sequence[Replay], places: dict[str, int]) -> str:
    """Return the section of a comparison page with the nodes of one run, or "" without replays.

    places: system -> the number of its mark.
    """
    shown = [(replay.system, replay.nodes) for replay in replays if replay.nodes is not None]
    if not shown:
        return ""
    highest = max(int(nodes.load.max(initial=0)) for _, nodes in shown)
    inner = "".join(_system(places[system], system, nodes, highest) for system, nodes in shown)
    note = (
        '<p class="note">The load, energy and lost notifications of each node in the first '
        "network of the comparison. The load of a node is the number of messages that it sends and "
        "receives. All heat maps have the same scale of load.</p>"
    )
    return section("nodes", "Nodes of one run", f"{note}{inner}")


def _system(place: int, system: str, nodes: NodeTable, highest: int) -> str:
    order = nodes.by_load()
    first = order[0]
    lost = int(nodes.lost.sum())
    summary = (
        f"{badge(place)} {escape(system)}: highest load {int(nodes.load[first]):,} at "
        f"<bdi>{escape(nodes.name[first])}</bdi>, {wording.count(lost, 'lost notification')}"
    )
    picture = _bars(nodes, order) if nodes.position is None else _heat_map(nodes, highest)
    return (
        f'<details class="nodes"><summary>{summary}</summary><div class="panels">'
        f'<div class="panel">{picture}</div>{_table(system, nodes, order)}</div></details>'
    )


def _table(system: str, nodes: NodeTable, order: Sequence[int]) -> str:
    heads = '<th scope="col">node</th>' + "".join(
        f'<th scope="col" class="n">{escape(head)}</th>' for head in _HEADS
    )
    rows = "".join(_row(nodes, row) for row in order[:_MOST_ROWS])
    left = len(order) - _MOST_ROWS
    more = (
        f'<p class="note">The table leaves out {left:,} nodes of lower load. '
        "<code>halfway simulate --nodes nodes.csv</code> writes all nodes.</p>"
        if left > 0
        else ""
    )
    if len(order) > _MOST_PRINTED:
        more += f'<p class="note on-paper">The {_MOST_PRINTED} nodes of the highest load.</p>'
    caption = f"Nodes of {escape(system)}, by load"
    return (
        f'<div><div class="scroll node-rows" role="region" tabindex="0" aria-label="{caption}">'
        f"<table><caption>{caption}</caption><thead><tr>{heads}</tr></thead>"
        f"<tbody>{rows}</tbody></table></div>{more}</div>"
    )


def _row(nodes: NodeTable, row: int) -> str:
    numbers = (
        f"{int(nodes.load[row]):,}",
        f"{int(nodes.sent[row]):,}",
        f"{int(nodes.received[row]):,}",
        f"{nodes.energy_j[row]:.4g}",
        f"{int(nodes.expected[row]):,}",
        f"{int(nodes.lost[row]):,}",
    )
    cells = "".join(f'<td class="n">{number}</td>' for number in numbers)
    return f'<tr><th scope="row"><bdi>{escape(nodes.name[row])}</bdi></th>{cells}</tr>'


def _heat_map(nodes: NodeTable, highest: int) -> str:
    """Return the heat map of a run: a dot for each node at its position, coloured by its load."""
    assert nodes.position is not None
    low, high = nodes.position.min(axis=0), nodes.position.max(axis=0)
    scale = (_SIZE - 2 * _MARGIN) / max(float((high - low).max()), 1e-300)
    x, y = ((nodes.position - low) * scale + _MARGIN).T
    height = float((high - low)[1]) * scale + 2 * _MARGIN
    width = 9 if len(x) <= 200 else 6 if len(x) <= 1000 else 4
    kind = np.minimum(nodes.load * _CLASSES // max(highest, 1), _CLASSES - 1)
    parts = []
    for of in range(_CLASSES):
        rows = np.flatnonzero(kind == of)
        dots = "".join(f"M{x[row]:.0f} {height - y[row]:.0f}h0" for row in rows)
        if dots:
            parts.append(f'<path class="h{of}" d="{dots}"/>')
    lost = "".join(
        f"M{x[row]:.0f} {height - y[row]:.0f}h0" for row in np.flatnonzero(nodes.lost > 0)
    )
    words = "Heat map of the load at the positions of the nodes"
    note = (
        f"Dark dots have a high load, up to {highest:,}. A dot with a light centre lost "
        "notifications."
    )
    return (
        f'<svg class="heat" role="img" aria-label="{words}" viewBox="0 0 {_SIZE:g} {height:.0f}" '
        f'stroke-width="{width}">{"".join(parts)}'
        f'<path class="lost" stroke-width="{width / 3:.1f}" d="{lost}"/></svg>'
        f'<p class="note">{note}</p>'
    )


def _bars(nodes: NodeTable, order: Sequence[int]) -> str:
    """Return the highest loads in the section on nodes as bars, for a network without positions."""
    most = max(int(nodes.load[order[0]]), 1)
    step, parts = 13.0, []
    for k, row in enumerate(order[:_MOST_BARS]):
        long = (_SIZE - 120.0) * int(nodes.load[row]) / most
        parts.append(
            f'<text x="106" y="{step * k + 10:.0f}">{escape(nodes.name[row][:18])}</text>'
            f'<path class="bar" d="M112 {step * k + 2:.0f}h{long:.1f}v9h-{long:.1f}z"/>'
        )
    height = step * min(len(order), _MOST_BARS) + 4
    note = "Bars show the load. The network has no fixed positions."
    return (
        f'<svg class="heat" role="img" aria-label="Load of the nodes, sorted" '
        f'viewBox="0 0 {_SIZE:g} {height:.0f}">{"".join(parts)}</svg><p class="note">{note}</p>'
    )
