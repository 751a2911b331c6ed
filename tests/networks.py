"""Small networks shared by the tests: from links, lines, unit disk graphs, lazy graphs."""

from collections.abc import Iterable

import numpy as np

from halfway.world.graphs.lazy.lazy_disk import LazyDisk
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk, unit_disk


def from_links(n: int, links: Iterable[tuple[int, int]]) -> Network:
    """Return the undirected network of n rows with these links."""
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for a, b in links:
        neighbours[a].add(b)
        neighbours[b].add(a)
    start = np.cumsum([0, *map(len, neighbours)]).astype(np.uint32)
    who = np.array([v for row in neighbours for v in sorted(row)], np.int32)
    return Network(start, who)


def line(n: int) -> Network:
    """Return the line network 0 - 1 - 2 - … - n-1."""
    return from_links(n, ((i, i + 1) for i in range(n - 1)))


def star(n: int) -> Network:
    """Return the star of n rows: a hub, row 0, with n - 1 leaves."""
    return from_links(n, [(0, i) for i in range(1, n)])


def disk(n: int = 150, radius: float = 0.16, seed: int = 1) -> Network:
    """Return a connected unit disk graph."""
    return connected_unit_disk(n, radius, seed).network


def in_memory(lazy: LazyDisk) -> Network:
    """Return the whole lazy graph as a network: row i is node i."""
    position = lazy.positions(np.arange(lazy.n))
    built = unit_disk(position, lazy.radius, name=lazy.name)
    assert built.labels is not None
    label = built.labels.astype(np.int64)
    degree = np.empty(lazy.n, np.int64)
    degree[label] = built.degree
    start = np.concatenate(([0], np.cumsum(degree)))
    ends = np.repeat(label, built.degree), label[built.who]
    who = ends[1][np.lexsort(ends[::-1])].astype(np.int32)
    return Network(start.astype(np.uint32), who, position, name=lazy.name)
