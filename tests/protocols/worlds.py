"""Small worlds that hypothesis draws for the protocols: trees with extra links, and their parts."""

from collections.abc import Sequence

from hypothesis import strategies as st

from halfway.world.graphs.network import Network
from tests.networks import from_links


@st.composite
def networks(draw: st.DrawFn, connected: bool = True, most: int = 14) -> Network:
    """A random tree, or forest, with some links more: dead ends, cycles, hubs."""
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
    """Rows that can be reached from a row, itself included."""
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
