"""A node's first state follows from its own id, and from what docs/models/nodes.md names.

The state of each node is built again for this node alone, from the arguments that its adapter
passes and that the page names. Then one fact of the run changes at a time: it may change the sizes
of tables that the page lists, and nothing else.
"""

import functools
import inspect
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from halfway.adapters.interface import RunContext, SystemInstance
from halfway.adapters.registry import TABLE
from halfway.protocols.broker_trees.client_state import ClientCapacity
from halfway.sim.environment.environment import Environment
from halfway.sim.environment.memory import named_arrays
from halfway.sim.environment.run_context import FAULTS, context_of, stream
from halfway.world.workload.demand import Listed
from halfway.world.workload.named_roles import BrokerPeriod
from tests.adapters.test_what_a_node_is_given import GIVEN, PAGE, SIZE, VALUE, difference
from tests.networks import disk

_NODES, _CAPACITY, _SEED = 40, 100, 3
_MORE_NODES = 60, 80, 120, 200  # rounding hides a small effect of one number
_RETRIES = [(system, retries) for system in TABLE for retries in (0, 2)
            if retries == 0 or "retries" in TABLE[system].options]  # fmt: skip

# The arguments of `state` that are not sizes, and what the page says of them.
FACTS = {
    "node_ids": "its own node id",
    "seed": "a random stream of its own",
    "capability": "The capability of the node",
    "brokers": "whether a node knows from the start that it is a broker",
    "later": "whether a node knows from the start that it is a broker",
    "root": "The id of the root",
    "clients": "Whether the node has an application",
    "relays": "member or relay, if the workload has relays",
}


def _demand(
    *, topics: int = 4, publishers: int = 6, subscribers: int = 18, events: int = 600,
    brokers: int = 0,
) -> Listed:  # fmt: skip
    """A workload in which each publisher publishes on one topic, within 13 s.

    brokers: how many the workload names; 0: the run draws them.
    """
    rows = np.random.default_rng(_SEED).permutation(_NODES).tolist()
    who = [rows[k % publishers] for k in range(events)]
    published = [(1.0 + 12.0 * k / events, row, row % 4) for k, row in enumerate(who)]
    wanted = [(rows[10 + k % 11], k % topics) for k in range(subscribers)]
    return Listed(wanted, published, brokers=tuple(BrokerPeriod(row) for row in rows[:brokers]))


def _context(nodes: int = _NODES, demand: Listed | None = None, **changed: Any) -> RunContext:
    network = disk(nodes, 0.35, seed=_SEED)
    environment = Environment(network, None, [], seed=stream(_SEED, FAULTS), seconds=20.0)
    found = context_of(
        environment, demand or _demand(), [], seconds=20.0, seed=_SEED, window=300
    )  # fmt: skip
    assert found.most_neighbours < _CAPACITY
    return found._replace(**({"most_neighbours": _CAPACITY} | changed))


# A fact of the run by its name on the page -> runs with other values of it.
CHANGED: dict[str, list[Callable[[], RunContext]]] = {
    "length": [lambda: _context(seconds=2000.0)],
    "memory": [lambda: _context(memory_lost=True)],
    "nodes": [functools.partial(_context, nodes) for nodes in _MORE_NODES],
    "neighbours": [lambda: _context(most_neighbours=_CAPACITY + 10)],
    "topics": [lambda: _context(demand=_demand(topics=9))],
    "subscribers": [lambda: _context(demand=_demand(subscribers=30))],
    "publishers": [lambda: _context(demand=_demand(publishers=9))],
    "events": [lambda: _context(demand=_demand(events=60))],
    "window": [lambda: _context(window=16)],
    "brokers": [lambda: _context(demand=_demand(brokers=12))],
}


def _instance(system: str, retries: int, context: RunContext) -> SystemInstance:
    options = {"retries": retries} if "retries" in TABLE[system].options else {}
    return TABLE[system].adapter_with(options).instance(context)


def _sizes_on_page() -> dict[str, set[str]]:
    """The facts from which the sizes of a system's tables follow, as the page lists them."""
    section = PAGE.read_text("utf-8").partition("## Sizes of tables\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([a-z-]+)` \| (.+) \|$", section, re.M)
    return {system: set(facts.split(", ")) - {"–"} for system, facts in rows}


def _own(name: str, value: Any, row: int, node_id: int) -> Any:
    """What a lone node receives as an argument: of ids only whether its own is among them."""
    if name == "node_ids":
        return np.array([node_id], np.int32)
    if name == "capability":
        return value[row : row + 1]
    if isinstance(value, ClientCapacity):
        return value._replace(clients=np.intersect1d(value.clients, [node_id]).astype(np.int32))
    if isinstance(value, np.ndarray):
        return np.intersect1d(value, [node_id]).astype(np.int32)
    return value


@pytest.mark.parametrize(("system", "retries"), _RETRIES)
def test_a_lone_node_is_built_from_its_own_id_and_what_the_page_names(
    system: str, retries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter, calls = TABLE[system].adapter_with({}), []
    made = adapter.module.state

    @functools.wraps(made)
    def noted(*args: Any, **named: Any) -> Any:
        calls.append(inspect.signature(made).bind(*args, **named))
        return made(*args, **named)

    monkeypatch.setattr(adapter.module, "state", noted)
    context = _context()
    instance = _instance(system, retries, context)
    (call,) = calls
    given = dict(call.arguments)
    given |= given.pop("sizes", {})
    page = PAGE.read_text("utf-8")
    for name, value in given.items():
        assert isinstance(value, int | np.integer) or name in FACTS, f"{name} is not a size"
        assert name not in FACTS or " ".join(FACTS[name].split()) in " ".join(page.split())
    for row in range(_NODES):
        node_id = int(context.node_ids[row])
        lone = dict(named_arrays(made(**{
            name: _own(name, value, row, node_id) for name, value in given.items()
        })))  # fmt: skip
        for name, array in named_arrays(instance.state):
            its = array[instance.own_rows(instance.state, name, row)]
            mine = lone[name]
            if name.endswith("_index"):  # the node knows that it has this role; its place is a row
                mine, its = mine >= 0, its >= 0
            assert mine.tobytes() == its.tobytes(), f"{name} of node {node_id}"


@pytest.mark.parametrize(("system", "retries"), _RETRIES)
@pytest.mark.long
def test_a_fact_of_the_run_changes_only_the_sizes_that_the_page_lists(
    system: str, retries: int
) -> None:
    listed = _sizes_on_page()[system]
    drawn = _instance(system, retries, _context())
    named = _instance(system, retries, _context(demand=_demand(brokers=5)))
    values = {name for name, how in GIVEN.get(system, {}).items() if how == VALUE}
    sized = set()
    for fact, runs in CHANGED.items():
        before = named if fact == "brokers" else drawn
        for changed in runs:
            found = difference(before, _instance(system, retries, changed()))
            assert {name for name, how in found.items() if how == VALUE} <= values, fact
            if SIZE in found.values():
                sized.add(fact)
    assert sized <= listed
    if (system, 2) not in _RETRIES or retries > 0:  # the most tables are in use
        assert sized == listed


@pytest.mark.parametrize("system", TABLE)
def test_an_adapter_knows_whether_neighbours_size_its_tables(system: str) -> None:
    """A run checks the memory for these tables before it makes them."""
    assert TABLE[system].adapter.has_neighbour_tables == ("neighbours" in _sizes_on_page()[system])


@pytest.mark.parametrize(("system", "retries"), _RETRIES)
def test_a_run_that_ends_before_its_events_counts_only_those_before_its_end(
    system: str, retries: int
) -> None:
    """600 events in 13 s, of which a run of 5 s has fewer."""
    whole, short = (_instance(system, retries, _context(seconds=of)) for of in (20.0, 5.0))
    sizes = set(difference(whole, short).values())
    assert sizes <= ({SIZE} if "events" in _sizes_on_page()[system] else set())
