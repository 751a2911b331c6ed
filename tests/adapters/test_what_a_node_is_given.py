"""The table of docs/models/nodes.md is true: what a node of each system has from the start.

Two runs differ in everything that a node has to learn: links, positions of other nodes, publishers
and subscribers. A node's first state and rules must not differ, except where the table says so.
"""

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from halfway.adapters.interface import RunContext, SystemInstance
from halfway.adapters.registry import TABLE
from halfway.sim.memory import named_arrays
from halfway.sim.run_context import environment_and_context
from halfway.world.workload.demand import Listed
from tests.networks import disk

_PAGE = Path(__file__).parents[2] / "docs" / "models" / "nodes.md"
_NODES, _ROOM = 40, 25
_HOPS = {"no": 0, "its list": 1, "its list and those of neighbours": 2}


class Row(NamedTuple):
    """A row of the table."""

    system: str
    position: str
    broker: str
    neighbours: str
    beyond: str


def _table() -> dict[str, Row]:
    first = _PAGE.read_text("utf-8").partition("\n## ")[0]  # other tables follow in sections
    lines = re.findall(r"^\| `([a-z-]+)` \|(.+)\|$", first, re.M)
    rows = (Row(system, *(cell.strip() for cell in cells.split("|"))) for system, cells in lines)
    return {row.system: row for row in rows}


def _context(seed: int) -> RunContext:
    """A context whose links, positions and roles follow from the seed, and nothing else."""
    rows = np.random.default_rng(seed).permutation(_NODES).tolist()
    published = [(1.0 + k, row, k % 4) for k, row in enumerate(rows[:6])]
    # Either all four topics have a subscriber, or three; then one node has two that are apart.
    some = [(row, k % 4) for k, row in enumerate(rows[10:28])]
    fewer = [(row, k % 2) for k, row in enumerate(rows[10:28])] + [(rows[10], 3)]
    demand = Listed(some if seed == 3 else fewer, published)
    _, context = environment_and_context(
        disk(_NODES, 0.35, seed=seed), None, demand, [], seconds=20.0, seed=7,
        discovery_delay_s=1.0, window=16,
    )  # fmt: skip
    # Tables have sizes of their own choice: how crowded a network is says nothing of its links.
    assert context.most_neighbours < _ROOM
    return context._replace(most_neighbours=_ROOM, seed=7)


def _given(instance: SystemInstance, row: int) -> list[tuple[str, bytes]]:
    state = instance.state
    arrays = [
        (name, np.ascontiguousarray(of[instance.own_rows(state, name, row)]).tobytes())
        for name, of in named_arrays(state)
    ]
    rules: Any = instance.rules
    scalars = [
        (f"rules.{name}", repr(value)) for name, value in zip(rules._fields, rules, strict=True)
    ]
    return arrays + [(name, text.encode()) for name, text in scalars]


def test_the_table_has_every_system_and_what_it_reads() -> None:
    table = _table()
    assert list(table) == list(TABLE)
    for name, row in table.items():
        assert TABLE[name].with_options({}).neighbour_knowledge().hops == _HOPS[row.neighbours]
        assert {row.position, row.broker} <= {"yes", "no"}


@pytest.mark.parametrize("system", sorted(TABLE))
def test_a_node_is_given_what_the_table_says_and_no_more(system: str) -> None:
    one, other = (TABLE[system].with_options({}).instance(_context(seed)) for seed in (3, 4))
    known = {
        name
        for row in range(_NODES)
        for (name, a), (_, b) in zip(_given(one, row), _given(other, row), strict=True)
        if a != b
    }
    row = _table()[system]
    if row.beyond == "–" and row.broker == "no":
        assert known == set()
    else:
        assert known, "the table says more than a node has"
