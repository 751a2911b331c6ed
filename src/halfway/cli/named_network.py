"""What a single walk is shown on: the network that a name stands for, and two of its nodes."""

from dataclasses import replace
from typing import Any

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.network import Network
from halfway.world.graphs.statistics import components, largest_component, subnetwork
from halfway.world.graphs.unit_disk import connected_unit_disk, unit_disk
from halfway.world.importers.network import read_network
from halfway.world.workload.pairs import distinct_pairs

DRAWN = "unit-disk:"
_SPEC = "unit-disk:n=3000,r=0.04,seed=7"
_ENDS = 2


def named_network(name: str, *, radius: float | None, largest: bool, **reading: Any) -> Network:
    """The network of a file (see `read_network` for `reading`), or a drawn unit disk graph.

    radius: forget the file's links and link whoever is nearer than that, in the positions' unit.
    Raises Problem for what cannot be read, drawn or linked.
    """
    if name.startswith(DRAWN):
        if radius is not None or any(value not in (None, [], True) for value in reading.values()):
            raise Problem("is drawn: a file's options make no sense", where=name)
        return _drawn(name)
    found = read_network(name, largest=largest and radius is None, **reading)
    if radius is None:
        return found
    linked = _linked(found, radius, name)
    return largest_component(linked) if largest else linked


def ends(
    network: Network, source: str | None, target: str | None, seed: int
) -> tuple[Network, int, int, int]:
    """The component that the walks stay in, their rows there, and the nodes that lie outside.

    What is not given is drawn by the seed, in the component of the other or in the largest.
    Raises Problem for an unknown node, one node twice, or two that no path joins.
    """
    given = [None if label is None else network.row(label) for label in (source, target)]
    component = components(network)
    known = [row for row in given if row is not None]
    home = component[known[0]] if known else np.bincount(component).argmax()
    if len(known) == _ENDS and component[known[0]] != component[known[1]]:
        raise Problem(
            f"'{source}' and '{target}' lie in different components of a disconnected network: "
            "their walks can never meet",
            where=network.name,
            remedy="name two nodes of one component; --largest shows only the largest",
        )
    rows = np.flatnonzero(component == home)
    if len(rows) < _ENDS:
        raise Problem("two walks need two linked nodes", where=network.name)
    within = [None if row is None else int(np.searchsorted(rows, row)) for row in given]
    a, b = _drawn_ends(within[0], within[1], len(rows), seed)
    if a == b:
        raise Problem(f"'{source}' is both ends of the walk", remedy="name two different nodes")
    inside = network if len(rows) == network.n else subnetwork(network, rows)
    return inside, a, b, network.n - len(rows)


def _drawn_ends(a: int | None, b: int | None, n: int, seed: int) -> tuple[int, int]:
    drawn = distinct_pairs(n, 1, seed)[0]
    if a is None and b is None:
        return int(drawn[0]), int(drawn[1])
    other = a if a is not None else b
    spare = int(drawn[0]) if drawn[0] != other else int(drawn[1])
    return (spare if a is None else a), (spare if b is None else b)


def _drawn(name: str) -> Network:
    given: dict[str, str] = {}
    for part in name.removeprefix(DRAWN).split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in ("n", "r", "seed") or key in given:
            raise Problem(f"'{part}' is not n=…, r=… or seed=…", where=name, remedy=f"try {_SPEC}")
        given[key] = value
    if "n" not in given or "r" not in given:
        raise Problem("needs both n=… and r=…", where=name, remedy=f"try {_SPEC}")
    try:
        n, r, seed = int(given["n"]), float(given["r"]), int(given.get("seed", "1"))
    except ValueError:
        raise Problem(
            "n and seed are whole numbers, r is a number", where=name, remedy=f"try {_SPEC}"
        ) from None
    return connected_unit_disk(n, r, seed).network


def _linked(found: Network, radius: float, name: str) -> Network:
    if found.position is None:
        raise Problem(
            "has no positions, which a radius needs",
            where=name,
            remedy="name a table of id, x, y with --positions",
        )
    linked = unit_disk(found.position, radius, name=f"{found.name}, r = {radius:g}")
    # `unit_disk` calls nodes by their place among the positions: back to the user's ids.
    places = range(found.n) if linked.labels is None else linked.labels
    return replace(linked, labels=np.array([found.label(int(place)) for place in places]))
