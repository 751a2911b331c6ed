"""A header field of a record that holds something else than its name says has a name of its own in
the code: `o[MEMBER]`, and not `o.publisher` (`docs/decisions/0090`).
"""

import ast
import importlib
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from halfway.core.kinds import EVENT_ID, FIELDS, Kind, Kinds
from tests.house.sources import Source, python_files

FOLDERS = ("src/halfway/core/hello", "src/halfway/protocols")
COPY = "as in that record"  # the meaning of all fields of a kind that holds a copy of any record
# Names of parameters that are records, and the beginnings of names of functions that return one.
RECORDS = {"message", "o", "record", "step", "failed"}
EMITTING = ("emit", "send", "announce")
# Functions that read or write a field of any kind by the name of the header -> the reason.
ANY_KIND = {
    "broker_trees/paths/circuits.py:send_copy": "it copies all fields of a record",
}


def read_by_header_names(root: Path) -> list[str]:
    """Accesses `record.field` in the folder of a system whose kinds give this field another
    meaning, and never its own.

    The own meaning of the three fields of an event id does not count, because `event_id` and
    `copy_event_id` read and write them together.
    """
    fields: dict[str, list[Kind]] = defaultdict(list)
    sources = [source for folder in FOLDERS for source in python_files(root, folder)]
    for source in sources:
        fields[_folder(source)] += _kinds(source)
    return [
        f"{source.path}:{node.lineno}: {ast.unparse(node)}"
        for source in sources
        if (reused := reused_fields(fields[_folder(source)]))
        for node in record_fields(source, reused)
    ]


def reused_fields(kinds: Iterable[Kind]) -> set[str]:
    """The header fields that record kinds use with other meanings only."""
    reused, own = set(), set()
    for form in (form for kind in kinds for form in kind.forms):
        if COPY in form.reused.values():
            continue
        named = set(form.fields) - form.reused.keys()
        event = set(EVENT_ID.split())
        own |= named - event if event <= named else named
        reused |= form.reused.keys()
    return reused - own


def named_by_header(root: Path) -> list[str]:
    """Meanings of header fields, as in `reused={"publisher": "member"}`, without a name of their
    own.
    """
    return [
        f"{source.path}:{key.lineno}: {key.value}"
        for folder in FOLDERS
        for source in python_files(root, folder)
        for node in source.nodes
        if isinstance(node, ast.Dict)
        for key, meaning in zip(node.keys, node.values, strict=True)
        if isinstance(key, ast.Constant) and key.value in FIELDS
        if isinstance(meaning, ast.Constant) and meaning.value not in (COPY, *FIELDS)
    ]


def record_fields(source: Source, fields: set[str]) -> Iterator[ast.Attribute]:
    """The accesses by name to some fields of records in the functions of a file."""
    for function in source.nodes:
        if not isinstance(function, ast.FunctionDef):
            continue
        if any(f"{source.path}:{function.name}".endswith(f"/{one}") for one in ANY_KIND):
            continue
        records = {one.arg for one in function.args.args} & RECORDS
        records |= {name for node in ast.walk(function) for name in _emitted(node)}
        for node in ast.walk(function):
            match node:
                case ast.Attribute(value=ast.Name(id=name), attr=attr):
                    if name in records and attr in fields:
                        yield node


def _emitted(node: ast.AST) -> Iterator[str]:
    # Names of records that a function emits, or takes from a table of reliable hops.
    if not isinstance(node, ast.Assign):
        return
    for target in node.targets:
        pairs = [(target, node.value)]
        if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
            pairs = list(zip(target.elts, node.value.elts, strict=True))
        yield from (name.id for name, value in pairs if isinstance(name, ast.Name) and _is(value))


def _is(value: ast.expr) -> bool:
    match value:
        case ast.Call(func=ast.Name(id=name)):
            return name.startswith(EMITTING)
        case ast.Subscript(value=ast.Attribute(attr="record")):
            return True
    return False


def _folder(source: Source) -> str:
    parts = source.path.removeprefix("src/halfway/").split("/")
    return "/".join(parts[:2])


def _kinds(source: Source) -> Iterable[Kind]:
    name = source.path.removeprefix("src/").removesuffix(".py").replace("/", ".")
    kinds = getattr(importlib.import_module(name.removesuffix(".__init__")), "KINDS", ())
    return kinds if isinstance(kinds, Kinds) else ()
