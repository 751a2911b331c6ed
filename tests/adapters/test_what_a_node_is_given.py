"""The table of docs/models/nodes.md is true: what a node of each system has from the start.

Two runs differ in everything that a node has to learn: links, positions of other nodes, publishers
and subscribers, brokers, and the seed. A node's first state and rules must not differ, except in
the fields that are named here, each with the sentence of the page that it stands for.
"""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from halfway.adapters.interface import RunContext, SystemInstance
from halfway.adapters.registry import TABLE
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.memory import named_arrays
from halfway.sim.environment.run_context import FAULTS, context_of, stream
from halfway.world.workload.demand import Listed
from halfway.world.workload.groups.monitoring import Monitoring, drawn_members
from tests.networks import disk
from tests.systems import DETECTORS

PAGE = Path(__file__).parents[2] / "docs" / "models" / "nodes.md"
_NODES, _CAPACITY = 40, 25
_HOPS = {"no": 0, "its list": 1, "its list and those of neighbours": 2}
_STREAM = "random_state"  # "a random stream of its own"

# The fields in which two nodes of a system may differ, beside their random stream. VALUE: its
# content differs. SIZE: only the number of its entries does, and all of them are blank.
VALUE, SIZE = "value", "size"
_PATH_TABLES = ("paths", "path_places.first", "path_places.after", "next_nodes.path")
_WALKS = {f"tables.{name}": SIZE for name in ("trails", "branches", *_PATH_TABLES)}
_FILTERS = ("filter", "via", "client", "forwarded", "parts", "low", "high")
_SIENA = {
    "root": VALUE,
    "rules.catalogue": VALUE,
    "parent": VALUE,  # the root has none, and each other broker has yet to find one
    "broker_index": VALUE,  # whether it is a broker; the number itself is a row of the simulator
    "clients.client_index": VALUE,  # whether it has an application; likewise
    "clients.silence": SIZE,
    **{f"table.{name}": SIZE for name in _FILTERS},
}
GIVEN: dict[str, dict[str, str]] = {
    "directional-walk": _WALKS,
    "random-walk": _WALKS,
    "walk-overlay": {
        "rules.key": VALUE,
        "rules.catalogue": VALUE,
        "rules.bits": VALUE,
        "rules.hashes": VALUE,
        **dict.fromkeys(("subscriptions", "own_filter", "received", "advertised"), SIZE),
    },
    "georendezvous": {
        "rules.key": VALUE,
        "rules.side": VALUE,
        **dict.fromkeys(("store", "pruned"), SIZE),
    },
    "rumor-routing": dict.fromkeys(
        ("trail_of", "trail_topic", "trail_number", "trail_back", "branch_topic", "branch_to"), SIZE
    ),
    "drip": {"node.capability": VALUE, "intervals": SIZE},
    "siena": _SIENA,
    "underlay-siena": _SIENA
    | {"founder": VALUE, **{f"replicas.{name}": SIZE for name in _FILTERS}},
}


class Row(NamedTuple):
    """A row of the table."""

    system: str
    position: str
    broker: str
    neighbours: str
    beyond: str


def _table() -> dict[str, Row]:
    first = PAGE.read_text("utf-8").partition("\n## ")[0]  # other tables follow in sections
    lines = re.findall(r"^\| `([a-z-]+)` \|(.+)\|$", first, re.M)
    rows = (Row(system, *(cell.strip() for cell in cells.split("|"))) for system, cells in lines)
    return {row.system: row for row in rows}


def _context(seed: int) -> RunContext:
    """A context in which everything but the sizes and options follows from the seed."""
    rows = np.random.default_rng(seed).permutation(_NODES).tolist()
    published = [(1.0 + k, row, k % 4) for k, row in enumerate(rows[:6])]
    # Either all four topics have a subscriber, or three; then one node has two that are apart.
    some = [(row, k % 4) for k, row in enumerate(rows[10:28])]
    fewer = [(row, k % 2) for k, row in enumerate(rows[10:28])] + [(rows[10], 3)]
    demand = Listed(some if seed == 3 else fewer, published)
    network = disk(_NODES, 0.35, seed=seed)
    environment = Environment(network, None, [], seed=stream(seed, FAULTS), seconds=20.0)
    context = context_of(environment, demand, [], seconds=20.0, seed=seed, window=16)
    # Tables have sizes of their own choice: how crowded a network is says nothing of its links.
    assert context.most_neighbours < _CAPACITY
    return context._replace(most_neighbours=_CAPACITY)


def _instances(system: str) -> tuple[SystemInstance, SystemInstance]:
    one, other = (TABLE[system].adapter_with({}).instance(_context(seed)) for seed in (3, 4))
    return one, other


def _given(instance: SystemInstance, name: str, row: int) -> Any:
    """What a node has from the start in an array of the state."""
    array = dict(named_arrays(instance.state))[name]
    return array[instance.own_rows(instance.state, name, row)]


def _rules(instance: SystemInstance) -> dict[str, str]:
    named = zip(instance.rules._fields, instance.rules, strict=True)
    return {f"rules.{name}": repr(value) for name, value in named}


def _differences(name: str, a: Any, b: Any) -> Iterator[tuple[str, str]]:
    """How an array of a node differs in two instances, and which fields of its records do."""
    if a.shape != b.shape:
        yield name, SIZE if _is_blank(a, b) else VALUE
    elif a.tobytes() != b.tobytes():
        parts = {f"{name}.{field}": (a[field], b[field]) for field in a.dtype.names or ()}
        for part, (x, y) in (parts or {name: (a, b)}).items():
            if x.tobytes() != y.tobytes() and part.rpartition(".")[2] != _STREAM:
                yield part, VALUE


def _is_blank(a: Any, b: Any) -> bool:
    """Whether two arrays differ in size alone: all of their entries are equal, or one has none; or
    both list free places from 0 on.
    """
    entries = _entries(a), _entries(b)
    is_equal = entries[0] == entries[1] or (set() in entries and len(entries[0] | entries[1]) == 1)
    return is_equal or (_is_free_list(a) and _is_free_list(b))


def _is_free_list(part: Any) -> bool:
    return part.dtype.names is None and bool((np.ravel(part) == np.arange(part.size)).all())


def _entries(part: Any) -> set[bytes]:
    entries, size = np.ravel(part).tobytes(), part.dtype.itemsize
    return {entries[first : first + size] for first in range(0, len(entries), size)}


def difference(
    one: SystemInstance, other: SystemInstance, rows: Iterable[int] = range(_NODES)
) -> dict[str, str]:
    """The fields in which a node of two instances differs, and how.

    A node that is a broker, or has an application, in one of the instances only is not compared
    in the tables of that role.
    """
    theirs, arrays = _rules(other), dict(named_arrays(other.state))
    found = {name: VALUE for name, rule in _rules(one).items() if rule != theirs[name]}
    for row in rows:
        changed = _roles(one, row) ^ _roles(other, row)
        for name, array in named_arrays(one.state):
            a = array[one.own_rows(one.state, name, row)]
            b = arrays[name][other.own_rows(other.state, name, row)]
            if not (0 in (a.size, b.size) and _role_of(name) in changed):
                new = dict(_differences(name, a, b))
                found |= {part: how for part, how in new.items() if found.get(part) != VALUE}
    return found


def _role_of(array: str) -> str:
    clients = array.startswith("clients.") and array != "clients.silence"
    return "client" if clients else "broker"


def _roles(instance: SystemInstance, row: int) -> set[str]:
    state: Any = instance.state
    if not hasattr(state, "broker_index"):
        return set()
    index = {"broker": state.broker_index, "client": state.clients.client_index}
    return {role for role, of in index.items() if of[row] >= 0}


def test_the_table_has_every_system_and_what_it_reads() -> None:
    table = _table()
    assert list(table) == list(TABLE)
    for name, row in table.items():
        assert TABLE[name].adapter_with({}).neighbour_knowledge().hops == _HOPS[row.neighbours]
        assert {row.position, row.broker} <= {"yes", "no"}
        assert (row.beyond == "–") == (name not in GIVEN)
        assert (row.broker == "yes") == ("broker_index" in GIVEN.get(name, {}))


@pytest.mark.parametrize("system", sorted(TABLE))
def test_a_node_is_given_what_the_table_says_and_no_more(system: str) -> None:
    assert difference(*_instances(system)) == GIVEN.get(system, {})


@pytest.mark.parametrize("system", sorted(TABLE))
def test_one_fact_more_is_found_in_each_field(system: str) -> None:
    one, other = _instances(system)
    allowed = GIVEN.get(system, {})
    spoilt = list[str]()
    for name, array in named_arrays(other.state):
        for field in array.dtype.names or ("",):
            part = f"{name}.{field}" if field else name
            is_stream = part.rpartition(".")[2] == _STREAM
            if is_stream or allowed.get(part) == VALUE or array.size == 0:
                continue
            row = _common_row(one, other, name)
            kept, own = array.copy(), array[other.own_rows(other.state, name, row)]
            _add_a_fact(own[field] if field else own)
            found = difference(one, other, [row])
            array[:] = kept
            assert found.get(part if allowed.get(name) != SIZE else name) == VALUE
            spoilt.append(part)
    for name in other.rules._fields:
        learnt = other._replace(rules=other.rules._replace(**{name: "a fact more"}))
        assert difference(one, learnt, [0])[f"rules.{name}"] == VALUE
    assert spoilt


def _common_row(one: SystemInstance, other: SystemInstance, array: str) -> int:
    """A node that has entries of an array in both instances."""
    both = (row for row in range(_NODES) if _given(one, array, row).size)
    return next(row for row in both if _given(other, array, row).size)


def _add_a_fact(entries: Any) -> None:
    """Change the first entry of a node's array in place."""
    first = np.ravel(entries)[:1].copy()
    first.view(np.uint8)[0] ^= 1
    entries[(0,) * entries.ndim] = first[0]


@pytest.mark.parametrize("system", DETECTORS)
def test_a_node_of_a_failure_detector_is_given_its_own_role(system: str) -> None:
    adapter = TABLE[system].adapter_with({})
    contexts = (
        _context(seed)._replace(demand=Monitoring(1.0, drawn_members(_NODES, 12, seed)))
        for seed in (3, 4)
    )
    one, other = (adapter.instance(context) for context in contexts)
    part = "probes" if system in ("swim", "lifeguard") else "periods"
    assert difference(one, other) == {f"{part}.roles": VALUE}
