"""An option has one default, in `OPTIONS`. A second default in `Rules`, in `state()` or in an
adapter could disagree with it.

An option of two systems has one meaning.
"""

import ast
import importlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from halfway.core.options import count
from halfway.protocols import SYSTEMS
from tests.house.sources import REPOSITORY, python_files

# Options whose texts differ between systems, although their meaning is the same -> the meaning.
OWN_TEXTS = {
    "batch": "the most items that a node sends at once; the text names the items",
    "beacon_interval_s": "the time between two beacons; the text names their senders",
    "brokers": "the number of brokers; the text states which nodes they are",
    "most_steps": "the steps of a walk until it stops; the text states what follows",
    "period_s": "the time from one round to the next; the text states what a round is",
    "refresh_s": "the time until a node renews what others know of it; the text names this",
    "timeout_s": "the silence after which a node suspects a member; the text names what is missing",
}


# (folder, option) whose functions have a default -> what the default states.
SAY_NONE = {
    ("broker_trees", "retries"): "0: hops are not acknowledged, so a node has no table of hops",
}


class Drawn(NamedTuple):
    """The invented rules of two systems."""

    first: int
    second: int = 2
    third: int = 3


def second_defaults(systems: Mapping[str, Any]) -> list[str]:
    """The fields of `Rules` with a default that are options of every system with this class.

    A field that is an option of only some of these systems may have a default, which states that
    the other systems have none of it.
    """
    options: dict[type[Any], set[str]] = {}
    for module in systems.values():
        options[module.Rules] = options.get(module.Rules, set(module.OPTIONS)) & set(module.OPTIONS)
    return [
        f"{rules.__module__}: Rules.{field} has a default, as OPTIONS has"
        for rules, shared in options.items()
        for field in rules._field_defaults
        if field in shared
    ]


def several_meanings(systems: Mapping[str, Any]) -> dict[str, set[str]]:
    """The options with different texts in two systems: option -> texts."""
    texts: dict[str, set[str]] = {}
    for module in systems.values():
        for name, option in module.OPTIONS.items():
            texts.setdefault(name, set()).add(option.meaning)
    return {name: some for name, some in texts.items() if len(some) > 1}


def protocols() -> dict[str, Any]:
    """The module of each system."""
    return {name: importlib.import_module(about.module) for name, about in SYSTEMS.items()}


def test_an_option_means_the_same_in_all_systems() -> None:
    assert several_meanings(protocols()).keys() == OWN_TEXTS.keys()


def test_two_meanings_of_an_option_are_seen() -> None:
    systems = {
        name: SimpleNamespace(OPTIONS={"retries": count(default, meaning)})
        for name, default, meaning in (("a", 1, "of a hop"), ("b", 2, "of a hop"))
    }
    assert several_meanings(systems) == {}
    systems["c"] = SimpleNamespace(OPTIONS={"retries": count(1, "of a query")})
    assert several_meanings(systems) == {"retries": {"of a hop", "of a query"}}


def test_no_rule_has_a_second_default() -> None:
    modules = protocols()
    assert "\n".join(second_defaults(modules)) == ""


def states_with_defaults(root: Path, systems: Mapping[str, Any]) -> list[str]:
    """The functions of protocols with a default for a parameter that is an option of a system in
    the same folder.
    """
    options: dict[str, set[str]] = {}
    for module in systems.values():
        options.setdefault(folder_of(module.__name__.split(".")), set()).update(module.OPTIONS)
    return [
        f"{source.path}:{node.lineno}: {node.name} has a default for {name}, as OPTIONS has"
        for source in python_files(root, "src/halfway/protocols")
        for folder in [folder_of(source.path.removesuffix(".py").split("/")[1:])]
        for node in source.nodes
        if isinstance(node, ast.FunctionDef)
        for name in with_default(node.args)
        if name in options.get(folder, ()) and (folder, name) not in SAY_NONE
    ]


def folder_of(parts: Sequence[str]) -> str:
    """The folder or the module of a system: halfway, protocols, walks, messages -> walks."""
    return parts[2] if len(parts) > 2 else ""


def with_default(arguments: ast.arguments) -> list[str]:
    """The parameters with a default."""
    given = [*arguments.posonlyargs, *arguments.args]
    named = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    first = len(given) - len(arguments.defaults)
    return [one.arg for one in given[first:]] + [one.arg for one, value in named if value]


def values_with_defaults(root: Path, names: Iterable[str]) -> list[str]:
    """Calls such as `values.get("retries", 0)` with the name of an option: OPTIONS has its default.

    A default that the code reads from OPTIONS passes.
    """
    options = set(names)
    return [
        f"{source.path}:{node.lineno}: {ast.unparse(node)}"
        for source in python_files(root, "src")
        for node in source.nodes
        if isinstance(node, ast.Call)
        if isinstance(node.func, ast.Attribute) and node.func.attr in ("get", "setdefault", "pop")
        if len(node.args) == 2 and isinstance(node.args[1], ast.Constant)
        if isinstance(node.args[0], ast.Constant) and node.args[0].value in options
    ]


def test_no_function_has_a_second_default() -> None:
    assert "\n".join(states_with_defaults(REPOSITORY, protocols())) == ""


def test_no_reader_of_values_has_a_second_default() -> None:
    names = {name for module in protocols().values() for name in module.OPTIONS}
    assert "\n".join(values_with_defaults(REPOSITORY, names)) == ""


def test_second_defaults_in_functions_and_in_readers_are_seen(tmp_path: Path) -> None:
    file = tmp_path / "src/halfway/protocols/walks/state.py"
    file.parent.mkdir(parents=True)
    file.write_text(
        "def state(n, k=2, *, buffer_size: int = 8, members=2):\n"
        '    a = n.get("buffer_size", 8), n.get("other", 8), n.get("buffer_size")\n'
        '    return a, n.get("buffer_size", OPTIONS["buffer_size"].default)\n'
    )
    options = {"buffer_size": count(8, "an option")}
    module = SimpleNamespace(__name__="halfway.protocols.walks.random_walk", OPTIONS=options)
    (line,) = states_with_defaults(tmp_path, {"random-walk": module})
    assert line.endswith("state.py:1: state has a default for buffer_size, as OPTIONS has")
    (line,) = values_with_defaults(tmp_path, options)
    assert line.endswith("""state.py:2: n.get('buffer_size', 8)""")


def test_a_second_default_is_seen() -> None:
    both = {name: count(1, "an option") for name in ("first", "second", "third")}
    one = {name: both[name] for name in ("first", "second")}
    systems = {"a": SimpleNamespace(Rules=Drawn, OPTIONS=both)}
    assert [line.split()[1] for line in second_defaults(systems)] == ["Rules.second", "Rules.third"]
    systems["b"] = SimpleNamespace(Rules=Drawn, OPTIONS=one)
    assert [line.split()[1] for line in second_defaults(systems)] == ["Rules.second"]
    assert second_defaults({"c": SimpleNamespace(Rules=Drawn, OPTIONS={})}) == []
