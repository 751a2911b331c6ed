"""How many modules of one room, or of one folder, import each other one after another.

A reader who follows a name from module to module walks such a chain. A deep room costs this reader
many steps, although no arrow is against the grain.
"""

from pathlib import Path

import networkx as nx

from tests.house.arrows import all_imports, dotted_name, module_of

ROOM_DEPTH = 9  # modules of the longest chain in a room
FOLDER_DEPTH = 7  # modules of the longest chain in a folder
# Rooms and folders with longer chains -> their longest chain, and the reason. These numbers only
# fall.
DEEPER = {
    "live": (
        15,
        "the chain of `live/mqtt/sessions`, above it the service, below it packets",
    ),
    "live/mqtt/sessions": (9, "a layer per module: door, table, session, queue, disk, message"),
    "protocols": (14, "the broker trees: roles, tables, paths and records, above shared parts"),
    "protocols/walk_overlay": (
        10,
        "a module per phase of a walk; a phase may start another phase",
    ),
    "protocols/walks": (8, "a walk of one system uses launches, sweeps, meetings and trees"),
    "sim": (11, "the contended radio has four modules, above the queue, the calendar and the heap"),
}


def deep_chains(root: Path) -> list[str]:
    """Rooms and folders whose longest chain of imports differs from what the table states."""
    found = []
    for place, chain in sorted(longest_chains(root).items()):
        usual = FOLDER_DEPTH if "/" in place else ROOM_DEPTH
        limit, reason = DEEPER.get(place, (usual, "usual"))
        if not reason:
            found.append(f"{place}: expected a reason")
        if len(chain) > limit or (place in DEEPER and len(chain) < limit):
            shown = " -> ".join(name.removeprefix("halfway.") for name in chain)
            found.append(f"{place}: {len(chain)} modules instead of {limit}: {shown}")
    return found


def longest_chains(root: Path) -> dict[str, list[str]]:
    """The longest chain of imports in each room, and in each folder between its own modules."""
    graphs: dict[str, nx.DiGraph[str]] = {}
    for source, used in all_imports(root):
        here, there = dotted_name(source.path), module_of(used, root)
        if there is None or there == here:
            continue
        for place in _shared_places(here, there):
            graphs.setdefault(place, nx.DiGraph()).add_edge(here, there)
    return {place: nx.dag_longest_path(graph) for place, graph in graphs.items()}


def _shared_places(here: str, there: str) -> list[str]:
    """The room of both modules, and their folder if it is one and the same."""
    left, right = here.split(".")[1:-1], there.split(".")[1:-1]
    places = ["/".join(left)] if left == right and left else []
    if left and right and left[0] == right[0] and left[0] not in places:
        places.append(left[0])
    return places
