"""An option has one default, in `OPTIONS`. A second default in `Rules` could disagree with it."""

import importlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from halfway.core.options import count
from halfway.protocols import SYSTEMS


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


def test_no_rule_has_a_second_default() -> None:
    modules = {name: importlib.import_module(about.module) for name, about in SYSTEMS.items()}
    assert "\n".join(second_defaults(modules)) == ""


def test_a_second_default_is_seen() -> None:
    both = {name: count(1, "an option") for name in ("first", "second", "third")}
    one = {name: both[name] for name in ("first", "second")}
    systems = {"a": SimpleNamespace(Rules=Drawn, OPTIONS=both)}
    assert [line.split()[1] for line in second_defaults(systems)] == ["Rules.second", "Rules.third"]
    systems["b"] = SimpleNamespace(Rules=Drawn, OPTIONS=one)
    assert [line.split()[1] for line in second_defaults(systems)] == ["Rules.second"]
    assert second_defaults({"c": SimpleNamespace(Rules=Drawn, OPTIONS={})}) == []
