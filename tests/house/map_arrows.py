"""The arrows that docs/map.md draws are the arrows of `tests/house/arrows.py`."""

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise

import networkx as nx

# No part of the picture: every room imports the first three, and the others start programs.
UNDRAWN = {"problem", "package", "files", "__main__", "__init__"}
_PICTURE = re.compile(r"^## Arrows$.*?^```$(.*?)^```$", re.MULTILINE | re.DOTALL)
# The exceptions of systems, one sentence each: `bulk/walk_overlay` drives `bulk/walks`.
_EXCEPTIONS = re.compile(r"The folder of a system never imports.*?(?=\n\* )", re.DOTALL)
_SENTENCE = re.compile(r"`(\w+/\w+)`\s+(?:drives|uses)(.*?)(?=\(\[|\.(?:\s|$))", re.DOTALL)


def drawn_arrows(page: str) -> set[tuple[str, str]]:
    """The arrows of the picture as pairs: a room, and a room that it imports."""
    picture = _PICTURE.search(page)
    arrows = set()
    for line in picture.group(1).splitlines() if picture else ():
        groups = [part.replace(",", " ").split() for part in line.split("←")]
        for imported, importing in pairwise(groups):
            arrows |= {(here, there) for here in importing for there in imported}
    return arrows


def false_arrows(page: str, rooms: Mapping[str, Iterable[str]]) -> list[str]:
    """Arrows of the picture that are not allowed, and allowed arrows that no path of the picture
    shows.
    """
    graph = nx.DiGraph(drawn_arrows(page))
    allowed = {
        (here, there)
        for here, rights in rooms.items()
        for there in rights
        if not {here, there} & UNDRAWN
    }
    false = [f"{here} may not import {there}" for here, there in set(graph.edges) - allowed]
    missing = [
        f"{here} may import {there}: no path in the picture"
        for here, there in allowed
        if not (here in graph and there in graph and nx.has_path(graph, here, there))
    ]
    return sorted(false + missing)


def false_exceptions(page: str, folders: Mapping[str, Mapping[str, Iterable[str]]]) -> list[str]:
    """Imports between the folders of systems that the map does not state, and false ones."""
    stated = set()
    if text := _EXCEPTIONS.search(page):
        for here, rest in _SENTENCE.findall(text.group()):
            stated |= {(here, there) for there in re.findall(r"`(\w+/\w+)`", rest)}
    real = {
        (f"{room}/{here}", f"{room}/{there}")
        for room in ("protocols", "bulk")
        for here, rights in folders[room].items()
        for there in rights
        if here != "." and there not in (".", "parts")  # parts of all systems
    }
    return [
        f"{here} imports {there}: not both stated and allowed"
        for here, there in sorted(stated ^ real)
    ]
