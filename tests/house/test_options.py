"""An option has one default, in `OPTIONS`. A second default in `Rules` could disagree with it.

An option of two systems has one meaning.
"""

import importlib
from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, NamedTuple

from halfway.core.options import count
from halfway.protocols import SYSTEMS

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


def test_a_second_default_is_seen() -> None:
    both = {name: count(1, "an option") for name in ("first", "second", "third")}
    one = {name: both[name] for name in ("first", "second")}
    systems = {"a": SimpleNamespace(Rules=Drawn, OPTIONS=both)}
    assert [line.split()[1] for line in second_defaults(systems)] == ["Rules.second", "Rules.third"]
    systems["b"] = SimpleNamespace(Rules=Drawn, OPTIONS=one)
    assert [line.split()[1] for line in second_defaults(systems)] == ["Rules.second"]
    assert second_defaults({"c": SimpleNamespace(Rules=Drawn, OPTIONS={})}) == []
