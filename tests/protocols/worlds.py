"""Small worlds for the protocols: drawn networks and their parts, and a run of a simple system."""

import importlib
import inspect
from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from halfway.core.message import START
from halfway.protocols import SYSTEMS
from halfway.world.graphs.network import Network
from tests.networks import disk, from_links
from tests.protocols.lone import Command, World
from tests.protocols.rules_of import rules_of

EVENTS, TOPICS = 5, 2
SMALL = disk(n=30, radius=0.32, seed=4)
_UNTIL_S = 12.0


def simple_world(system: str, rules: Sequence[float] = (), seed: int = 9) -> World:
    """A small run of a system by topic that needs no sizing, with those rules or its defaults.

    Two publishers of two topics, one of them late; every third node subscribes, and one of them
    unsubscribes where it can. Where nodes receive a start event, every third node restarts later.
    """
    protocol = importlib.import_module(SYSTEMS[system].module)
    number = protocol.KINDS.number
    rows = range(0, SMALL.n, 3)
    commands = [Command(0.5 + row / 64, row, number("subscribe"), row % TOPICS) for row in rows]
    if "unsubscribe" in protocol.KINDS.names.values():
        commands.append(Command(7.0, 0, number("unsubscribe"), 0))
    commands += [
        Command(2.0 * event, 5 * (event % TOPICS), number("publish"), event % TOPICS, event)
        for event in range(EVENTS)
    ]
    if protocol.KINDS.starts:
        commands += [Command(0.0, row, int(START)) for row in range(SMALL.n)]
        commands += [Command(0.9 + row / 64, row, int(START)) for row in rows]

    def fresh(node_ids: Any) -> Any:
        given = (node_ids, TOPICS, TOPICS, seed)  # as many publishers as topics
        taken = inspect.signature(protocol.state).parameters.values()
        return protocol.state(*given[: sum(one.kind is not one.KEYWORD_ONLY for one in taken)])

    made = protocol.Rules(*rules) if rules else rules_of(protocol)
    return World(SMALL, protocol, fresh, made, commands, until=_UNTIL_S)


@st.composite
def networks(draw: st.DrawFn, connected: bool = True, most: int = 14) -> Network:
    """A random tree, or forest, with some more links: dead ends, cycles, hubs."""
    n = draw(st.integers(2, most))
    links = set()
    for i in range(1, n):
        if connected or draw(st.booleans()):
            links.add((draw(st.integers(0, i - 1)), i))
    for _ in range(draw(st.integers(0, most))):
        a, b = draw(st.integers(0, n - 1)), draw(st.integers(0, n - 1))
        if connected and a != b:
            links.add((min(a, b), max(a, b)))
    return from_links(n, links)


def component(network: Network, row: int) -> set[int]:
    """Rows that a path joins to a row, itself included."""
    reached, waiting = {row}, [row]
    while waiting:
        for z in network.neighbours(waiting.pop()):
            if int(z) not in reached:
                reached.add(int(z))
                waiting.append(int(z))
    return reached


def coverage(rows: Sequence[int], network: Network) -> float:
    """Share of a network's rows."""
    return len(set(rows)) / network.n
