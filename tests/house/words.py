"""One word, one meaning, across rooms: names of classes, functions, fields and options.

`docs/map.md` has the list of words; the field's terms win over inventions.
"""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.house.sources import PROGRAMS, Source, python_files

# Class names that may stand in several places: the contract of a protocol.
CONTRACT = {
    "Rules": "the scalars of one protocol",
    "State": "the rows of one protocol",
    "Catalogue": "what the ids of one protocol identify",
}
# Words that this project once used for things that the field has names for -> the name to use.
RETIRED = {
    "voice": "adapter",
    "scene": "run context, environment",
    "scenes": "scenarios",
    "setting": "parameters, environment",
    "letter": "command, timer",
    "letters": "commands",
    "told": "outcome, deliveries, forwarded",
    "book": "catalogue",
    "dice": "random state",
    "care": "acknowledgement, reliable hop",
    "patience": "ack timeout, query timeout",
    "crowded": "table full",
    "spilled": "evicted",
    "hearsay": "neighbour discovery",
    "herald": "neighbour advertisement",
    "heir": "successor",
    "reign": "act as root",
    "refuge": "fallback parent",
    "kin": "children, grandchildren",
    "wish": "subscription",
    "wishes": "subscriptions",
    "unwant": "unsubscribe upstream",
    "shelf": "store",
    "keeper": "replica",
    "keepers": "replicas",
    "desk": "client index",
    "town": "cell run",
    "ledger": "delivery accounting",
    "meters": "counters",
    "hottest": "max node energy",
    "busiest": "max node load",
    "contender": "system, implementation",
    "contenders": "systems, implementations",
    "tale": "report",
    "tales": "reports",
    "seat": "broker index",
    "seats": "broker indices",
    "mendable": "user error",
    "unfit": "unsupported",
    "parked": "deferred",
}
# Words of Spark -> the word to use elsewhere. Only files about Spark have them in names.
OF_SPARK = {"stage": "attempt, part, phase"}
_ABOUT_SPARK = re.compile(r"spark|account")
# The word for a package of the map -> the words for the size of a table or buffer. To make room is
# an idiom, the names of tests are sentences, and programs of users read `without_room` in the JSON
# of outcomes. Another name such as `client_room` would be a package.
_ROOM, _CAPACITY = "room", "capacity, slots or full"
_ROOM_IDIOM = re.compile(r"^_*(make_room$|without_room$|test_)")
_MAY_NAME_ROOM = "tests/house/"  # files about packages
_RETIRED = re.compile(rf"(?<![a-z])({'|'.join((*RETIRED, *OF_SPARK))})(?![a-z])")
# "Of a group: ..." begins a meaning for one component; such a word needs an entry of its own.
_SECOND = re.compile(r"(?:^|[.;] )Of [^.:;]+: ")
# Words that several components use -> only entries that name the component: "relay of DRIP".
_SHARED = (
    "beacon", "heartbeat", "incarnation", "membership", "news", "probe", "relay", "replica",
    "report", "search", "session", "step",
)  # fmt: skip
_TIME = re.compile(r"^seconds\b")
_TIME_IN_WORDS = re.compile(r"^The (\w+ )?(time|period|length of an? (attack|pause))\b")
_UNIT = re.compile(r"\bin (s|their unit)\b")


def classes_with_two_meanings(root: Path) -> list[str]:
    """Names of public classes and types that mean several things in the package.

    The same alias for the same type in two files means one thing.
    """
    meanings: dict[str, dict[str, str]] = defaultdict(dict)
    for source in python_files(root, "src"):
        for name, meaning, line in _types(source):
            meanings[name].setdefault(meaning, f"{source.path}:{line}")
    return [
        f"{name}: {', '.join(places.values())}"
        for name, places in sorted(meanings.items())
        if len(places) > 1 and name not in CONTRACT
    ]


def retired_words(root: Path) -> list[str]:
    """Retired words in names of files, in fields of records, and in all names that a file binds."""
    files = {(source.path, 1, Path(source.path).stem) for source in python_files(root, *PROGRAMS)}
    named = files | {
        (source.path, line, name)
        for source in python_files(root, *PROGRAMS)
        # Most files have no such word at all, and need no syntax.
        if not source.path.startswith("tests/house/") and _RETIRED.search(_snake(source.text))
        for names in (_public_names, _bound_names)
        for name, line in names(source)
    }
    return [
        f"{path}:{line}: {name}: use {retired[part]}"
        for path, line, name in sorted(named)
        for retired in (RETIRED if _ABOUT_SPARK.search(path) else RETIRED | OF_SPARK,)
        for part in _parts(name)
        if part in retired
    ]


def capacities_called_room(root: Path) -> list[str]:
    """Names that end in `room`, the map's word for a package, but mean the size of a table."""
    return [
        f"{source.path}:{line}: {name}: use {_CAPACITY}"
        for source in python_files(root, *PROGRAMS)
        if not source.path.startswith(_MAY_NAME_ROOM) and _ROOM in _snake(source.text)
        for line, name in sorted({(line, name) for name, line in _all_names(source)})
        if _parts(name)[-1] == _ROOM and not _ROOM_IDIOM.match(name)
    ]


def careless_options(options: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Options (system -> name -> meaning) with a time without its unit, or a retired word."""
    found = []
    for system, own in options.items():
        for name, meaning in own.items():
            if bool(_TIME.match(meaning)) != name.endswith("_s"):
                found.append(f"{system}: {name}: a time ends in _s, and nothing else does")
            found += [f"{system}: {name}: use {RETIRED[p]}" for p in _parts(name) if p in RETIRED]
    return found


def careless_fields(tables: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Fields of the scenario file (table -> name -> meaning) with a retired word, or with a time
    whose unit is neither in the name nor in the first sentence of the meaning.
    """
    found = []
    for table, own in tables.items():
        for name, meaning in own.items():
            first = meaning.partition(". ")[0]
            if _TIME_IN_WORDS.match(first) and not _UNIT.search(first):
                found.append(f"{table}: {name}: state the unit of the time: in s")
            found += [f"{table}: {name}: use {RETIRED[p]}" for p in _parts(name) if p in RETIRED]
    return found


def careless_metrics(names: Iterable[str]) -> list[str]:
    """Names of metrics with a retired word."""
    parts = ((name, part) for name in names for part in name.split("-"))
    return [f"{name}: use {RETIRED[part]}" for name, part in parts if part in RETIRED]


def glossary(page: str) -> list[tuple[str, str, list[str]]]:
    """The words of the map: word, meaning, and the names that it has in code."""
    body = page.partition("## Words")[2]
    rows = [line.strip()[1:-1].split("|") for line in body.splitlines() if line.startswith("| ")]
    return [
        (row[0].strip(), row[1].strip(), re.findall(r"`([^`]+)`", row[2]))
        for row in rows[1:]
        if len(row) == 3
    ]


def false_words(root: Path, page: str) -> list[str]:
    """Words that the map lists twice or with two meanings, words of several components without
    the component, and names of code that nothing has.
    """
    words = glossary(page)
    twice = [f"{w}: listed twice" for w, n in Counter(w for w, _, _ in words).items() if n > 1]
    twice += [f"{w}: two meanings" for w, meaning, _ in words if _SECOND.search(meaning)]
    twice += [
        f"{word}: name the component"
        for word, _, _ in words
        if set(word.split(", ")) & set(_SHARED)
    ]
    names = {name for source in python_files(root, "src") for name, _ in _public_names(source)}
    files = {Path(source.path).stem for source in python_files(root, "src")}
    known = names | files | {Path(s.path).parent.name for s in python_files(root, "src")}
    return twice + [
        f"{word}: no `{name}` in the package"
        for word, _, codes in words
        for name in codes
        if name not in known
    ]


def _parts(name: str) -> list[str]:
    """The words of a name: run_context and RunContext are run, context."""
    return _snake(name).strip("_").split("_")


def _snake(text: str) -> str:
    """The text in lower case, with RunContext as run_context."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text).lower()


def _types(source: Source) -> Iterator[tuple[str, str, int]]:
    """The classes and type aliases at the top of a file: name, what it means, line."""
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


def _public_names(source: Source) -> Iterator[tuple[str, int]]:
    """Classes, functions, fields of classes and of record types, and constants of a file."""
    for node in source.nodes:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                if not name.startswith("_"):
                    yield name, node.lineno
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name, node.lineno
            case ast.Tuple(elts=[ast.Constant(value=str(name)), ast.Constant(value=str(kind)), *_]):
                if re.fullmatch(r"[<>]?[iuf][1248]", kind):  # a field of a record
                    yield name, node.lineno
    for node in source.tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) if name.isupper():
                yield name, node.lineno


def _all_names(source: Source) -> Iterator[tuple[str, int]]:
    yield from _public_names(source)
    yield from _bound_names(source)


def _bound_names(source: Source) -> Iterator[tuple[str, int]]:
    """Classes, functions, their arguments, and variables of a file."""
    for node in source.nodes:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.arg(arg=name):
                yield name, node.lineno
            case ast.Name(id=name, ctx=ast.Store()):
                yield name, node.lineno
