"""The names that functions and methods of many modules share: each name has one meaning.

A reader who knows a common name in one module reads it in the same sense in all others.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.house.sources import Source, python_files

COMMON = 6  # modules that define a name: from here on it needs an entry
# name -> the meaning that it has in every module
MEANINGS = {
    "add": "put one more thing into a collection",
    "advance": "move on to a time or a position; return what happened before it",
    "check": "compare with what is required, and report or raise what differs",
    "close": "end the use of a resource: write what waits, and release it",
    "deliver": "pass an event or a record to those that wait for it",
    "forget": "drop what is known of a node, a topic or a subscription",
    "handle": "handle one record at a node of a system",
    "instance": "return the instance of a system for a network",
    "limits": "return the limits of the ranges in the records of a system",
    "main": "run a program of its own, started by `python -m` or a command",
    "most_emissions": "return the most records that one call of `handle` emits",
    "neighbours": "return the neighbours of a node",
    "next_at": "return the time of the next item, or inf",
    "next_publications": "return the next publications before a time, each only once",
    "positions": "return or fill positions of nodes",
    "publish": "publish an event of an application",
    "read": "return the content of a file, a source or a datagram",
    "receive": "handle data, a record or an event that arrives",
    "restore": "take back what was saved before the start",
    "retained": "return the retained values that match",
    "route": "return the route to a target",
    "rules": "return the rules of a protocol from the values of its options",
    "run": "carry out a program or a simulation to its end",
    "send": "hand over data or a record for another node or client",
    "shortfalls": "return the numbers of things that nodes dropped or lacked",
    "start": "begin the work of a component",
    "start_up_commands": "return the commands at the start of a run",
    "state": "return the state of all nodes of a system",
    "stop": "end the work of a component",
    "subscribe": "begin a subscription of an application",
    "tick": "do the work that is due at a time",
    "unsubscribe": "end a subscription of an application",
    "unsupported": "return why an adapter cannot run on a network, or nothing",
    "write": "write records, rows or bytes to a file",
}


def unlisted_names(root: Path, meanings: Mapping[str, str] = MEANINGS) -> list[str]:
    """Public names that functions or methods of `COMMON` modules have, without a listed meaning,
    and listed names that fewer modules have.
    """
    places: dict[str, set[str]] = defaultdict(set)
    for source in python_files(root, "src"):
        for name in _public_functions(source):
            places[name].add(source.path)
    common = {name: sorted(paths) for name, paths in places.items() if len(paths) >= COMMON}
    found = [
        f"{name}: {len(paths)} modules define it ({', '.join(paths)}). Name functions that mean"
        " something else by their meaning; list the one meaning in tests/house/common_names.py"
        for name, paths in sorted(common.items())
        if name not in meanings
    ]
    return found + [
        f"{name}: fewer than {COMMON} modules define it; remove it from tests/house/common_names.py"
        for name in sorted(meanings.keys() - common.keys())
    ]


def _public_functions(source: Source) -> Iterator[str]:
    """The functions of a file and the methods of its classes, without functions in functions."""
    for node in source.tree.body:
        for inner in node.body if isinstance(node, ast.ClassDef) else (node,):
            is_function = isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef)
            if is_function and not inner.name.startswith("_"):
                yield inner.name
