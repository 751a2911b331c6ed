"""One word has one meaning: which names of classes and types a room uses twice."""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.house.sources import Source, python_files, room

# Room and name -> why it may stand for several things there.
TWICE = {
    ("protocols", "Book"): "the contract: what the ids of one protocol stand for",
    ("protocols", "Rules"): "the contract: the scalars of one protocol",
    ("protocols", "State"): "the contract: the rows of one protocol",
}


def used_twice(root: Path) -> list[str]:
    """Public names that mean several things in a room, and entries of `TWICE` without need.

    The same alias for the same type in two files means one thing.
    """
    meanings: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    for source in python_files(root, "src"):
        for name, meaning, line in _named(source):
            meanings[room(source.path), name].setdefault(meaning, f"{source.path}:{line}")
    several = {word: places for word, places in meanings.items() if len(places) > 1}
    found = [
        f"{word[1]}: {', '.join(places.values())}"
        for word, places in several.items()
        if word not in TWICE
    ]
    rooms = {word[0] for word in meanings}
    idle = [word for word in TWICE if word[0] in rooms and word not in several]
    return found + [f"{name}: no longer twice in {where}" for where, name in idle]


def _named(source: Source) -> Iterator[tuple[str, str, int]]:
    """The classes and type aliases at the top of a file: name, what it stands for, line."""
    for node in source.tree.body:
        match node:
            case ast.ClassDef(name=name):
                meaning = f"class of {source.path}"
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                meaning = ast.unparse(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                meaning = ast.unparse(value)
            case _:
                continue
        # Constants are written in capitals alone.
        if name[0].isupper() and not name.isupper():
            yield name, meaning, node.lineno
