"""Pure random walks [drw §4.1], the baseline of the papers: the next node of a walk is any
neighbour.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.handler import handles
from halfway.core.missing import NONE
from halfway.core.neighbourhood import place_of
from halfway.core.prng import mixed, pick
from halfway.protocols.walks import messages, shared_handler
from halfway.protocols.walks.shared_handler import receive
from halfway.protocols.walks.state import WalkTables, walk_tables
from halfway.protocols.walks.steps import make_step, step_input

KINDS, Rules = messages.KINDS, messages.Rules
# [drw §4.1] pure random walks take 6 to 10 times as many steps before they meet.
_SEARCH_STEPS = messages.OPTIONS["search_steps"]._replace(default=1000)
OPTIONS = {**messages.OPTIONS, "search_steps": _SEARCH_STEPS}
limits = shared_handler.limits
NEIGHBOUR_HOPS = 1  # a node reads its own neighbour list


class RandomState(NamedTuple):
    """The state of pure random walks: trails only."""

    tables: WalkTables


State = RandomState


def state(
    node_ids: npt.NDArray[np.int32], degree: int, topics: int, seed: int, **sizes: int
) -> RandomState:
    """Return the initial state of pure random walks; `degree` is the largest number of neighbours.

    sizes: further arguments of `walk_tables`.
    """
    return RandomState(walk_tables(node_ids, degree, topics, seed, **sizes))


def shortfalls(state: RandomState) -> dict[str, int]:
    """Return the shortfalls of pure random walks."""
    return shared_handler.shortfalls(state.tables)


def most_emissions(state: RandomState, rules: messages.Rules) -> int:
    """Return the most records that one call of the random walk's `handle` emits."""
    return shared_handler.most_emissions(state.tables, rules)


@inlined
def any_neighbour(neighbourhood, i, value, excluded):
    """Return the next node of a pure random walk, a uniform neighbour.

    We exclude a neighbour that did not acknowledge the walk, unless the node has no other, because
    the walk would fail there again.
    """
    first, last = np.int64(neighbourhood.first[i]), np.int64(neighbourhood.last[i])
    if excluded == NONE or last - first == 1:
        return neighbourhood.who[first + pick(value, last - first)]
    place = place_of(neighbourhood, i, excluded)
    if place < 0:
        place = last
    chosen = first + np.int64(pick(value, last - first - (place < last)))
    return neighbourhood.who[chosen + (chosen >= place)]


@handles(RandomState)
def handle(state, rules, neighbourhood, i, message, out):
    """Handle one record at a node of pure random walks."""
    tables = state.tables
    steps, place = receive(tables, rules, neighbourhood, i, message, out)
    if steps:
        _, random, _, excluded = step_input(tables, i, message, place)
        towards = any_neighbour(neighbourhood, i, mixed(random), excluded)
        make_step(tables, rules, i, message, place, random, towards, out)
