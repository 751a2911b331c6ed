"""The network of `halfway walk`: read from a file or drawn, and the two ends of the walk."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from halfway.problem import Problem
from halfway.world.graphs.components import components, largest_component, subnetwork
from halfway.world.graphs.import_remarks import OUTSIDE, left_out_remarks
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk, unit_disk
from halfway.world.importers.link_table import LinkColumns
from halfway.world.importers.network_file import read_network
from halfway.world.importers.projection import PROJECTED
from halfway.world.workload.pairs import distinct_pairs

DRAWN = "unit-disk:"
_SPEC = "unit-disk:n=3000,r=0.04,seed=7"
_ENDS = 2


def named_network(
    name: str,
    columns: LinkColumns,
    *,
    positions: Path | None,
    partial_positions: bool,
    largest: bool,
    radius: float | None,
) -> Network:
    """Return the network of `halfway walk` that the user named: read from a file, or drawn.

    radius: ignore the file's links, and link nodes closer than that, in the unit of the positions.
    See `read_network` for the others. Raises Problem for a network that cannot be read, drawn or
    linked.
    """
    if name.startswith(DRAWN):
        is_placed = positions is not None or partial_positions or radius is not None
        if is_placed or columns != LinkColumns():
            what = "a drawn network has no file, so the options of a file do not apply"
            remedy = "leave out options such as --positions, --radius and --over"
            raise Problem(what, where=name, remedy=remedy)
        return _drawn_network(name)
    network = read_network(
        name,
        columns,
        positions=positions,
        partial_positions=partial_positions,
        largest=largest and radius is None,
    )
    if radius is None:
        return network
    linked = _linked(network, radius, name)
    if not largest:
        return linked
    part = largest_component(linked)
    lost = set(map(linked.label, range(linked.n))) - set(map(part.label, range(part.n)))
    more = left_out_remarks({OUTSIDE: len(lost)}, {OUTSIDE: sorted(lost)}) if lost else ()
    return replace(
        part, remarks=(*linked.remarks, *(f"{network.name}: {remark}" for remark in more))
    )


def ends(
    network: Network, source: str | None, target: str | None, seed: int
) -> tuple[Network, int, int, int]:
    """Return the two ends of the walk on the network of `halfway walk`: their component, both rows
    in it, and the number of nodes outside.

    The seed draws an end that is not given, from the component of the other end or the largest.
    Raises Problem for an unknown node, one node twice, or two that no path joins.
    """
    named_rows = [None if label is None else network.row(label) for label in (source, target)]
    component = components(network)
    known = [row for row in named_rows if row is not None]
    home = component[known[0]] if known else np.bincount(component).argmax()
    if len(known) == _ENDS and component[known[0]] != component[known[1]]:
        what = f"'{source}' and '{target}' are in different components, so their walks cannot meet"
        remedy = "name two nodes of one component"
        raise Problem(what, where=network.name, remedy=remedy)
    rows = np.flatnonzero(component == home)
    if len(rows) < _ENDS:
        what = "no two nodes are linked, so no walk is possible"
        raise Problem(what, where=network.name, remedy="use a larger network")
    within = [None if row is None else int(np.searchsorted(rows, row)) for row in named_rows]
    a, b = _drawn_ends(within[0], within[1], len(rows), seed)
    if a == b:
        raise Problem(
            f"--to {target}: expected another node than --from", remedy="name two different nodes"
        )
    inside = network if len(rows) == network.n else subnetwork(network, rows)
    return inside, a, b, network.n - len(rows)


def _drawn_ends(a: int | None, b: int | None, n: int, seed: int) -> tuple[int, int]:
    drawn = distinct_pairs(n, 1, seed)[0]
    if a is None and b is None:
        return int(drawn[0]), int(drawn[1])
    other = a if a is not None else b
    spare = int(drawn[0]) if drawn[0] != other else int(drawn[1])
    return (spare if a is None else a), (spare if b is None else b)


def _drawn_network(name: str) -> Network:
    options: dict[str, str] = {}
    misread = partial(Problem, where=name, remedy=f"try {_SPEC}")
    for part in name.removeprefix(DRAWN).split(","):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if not equals or key not in ("n", "r", "seed") or key in options:
            raise misread(f"'{part}': expected n=…, r=… or seed=…")
        options[key] = value
    if "n" not in options or "r" not in options:
        raise misread("expected both n=… and r=…")
    try:
        n, r, seed = int(options["n"]), float(options["r"]), int(options.get("seed", "1"))
    except ValueError:
        raise misread("expected whole numbers n and seed, and a number r") from None
    return connected_unit_disk(n, r, seed).network


def _linked(network: Network, radius: float, name: str) -> Network:
    if network.position is None:
        what = "--radius needs positions, which the file does not have"
        raise Problem(what, where=name, remedy="name a table of id, x, y with --positions")
    linked = unit_disk(network.position, radius, name=f"{network.name}, r = {radius:g}")
    # `unit_disk` labels nodes by their row among the positions: restore the user's ids.
    places = range(network.n) if linked.labels is None else linked.labels
    labels = np.array([network.label(int(place)) for place in places])
    # What else the reader of the links reported does not matter here.
    remarks = tuple(remark for remark in network.remarks if PROJECTED in remark)
    return replace(linked, labels=labels, remarks=remarks)
