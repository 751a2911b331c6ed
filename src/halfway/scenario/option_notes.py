"""The notes on options: acknowledgements that a scenario chooses, and options that a scenario
sets.
"""

from collections.abc import Iterator, Mapping, Sequence

from halfway.adapters.interface import System
from halfway.scenario.acknowledgements import RETRIES, acknowledges, is_automatic, options_of
from halfway.scenario.schema import Scenario

_LONGEST = 140  # characters of a note's list, so that the note fits two lines


def option_notes(scenarios: Sequence[Scenario], systems: Sequence[System]) -> Iterator[str]:
    """Yield the notes on the options of a comparison's systems. scenarios: the scenarios of all
    points.
    """
    if any(map(acknowledges, scenarios)):
        yield from _on_acknowledgements(scenarios, systems)
    yield from _on_given(scenarios, systems)


def _on_acknowledgements(scenarios: Sequence[Scenario], systems: Sequence[System]) -> Iterator[str]:
    """Yield the notes on the systems with acknowledged hops, and on a way to measure their
    effect.
    """
    able = [system for system in systems if is_automatic(system)]
    if not able:
        return
    groups: dict[str, list[str]] = {}
    for system in able:
        efforts = sorted({int(options_of(scenario, system)[RETRIES]) for scenario in scenarios})
        groups.setdefault(" or ".join(map(str, efforts)), []).append(system.name)
    items = (f"{', '.join(names)}: {retries}" for retries, names in groups.items())
    yield f"Records can be lost, so a hop has this number of retries: {'; '.join(items)}."
    if bare := [system.name for system in systems if system not in able]:
        yield f"These systems have no acknowledged hops: {', '.join(bare)}."
    name = able[0].name
    yield (
        f"`--sweep options.{name}.{RETRIES}=0,5` shows the effect of the acknowledgements of "
        f"{name}."
    )


def _on_given(scenarios: Sequence[Scenario], systems: Sequence[System]) -> Iterator[str]:
    """Yield the notes on options that the scenario sets, in groups of systems with equal
    options.
    """
    groups: dict[str, list[str]] = {}
    for system in systems:
        stated = [scenario.options.get(system.name, {}) for scenario in scenarios]
        if text := _shown(stated, system):
            groups.setdefault(text, []).append(system.name)
    line = ""
    for item in (f"{', '.join(names)} ({text})" for text, names in groups.items()):
        if line and len(line) + len(item) > _LONGEST:
            yield f"{_SET}{line}."
            line = ""
        line += f"; {item}" if line else item
    if line:
        yield f"{_SET}{line}."


_SET = "Options set: "


def _shown(stated: Sequence[Mapping[str, float | int | bool]], system: System) -> str:
    """Return the options of a system that differ from their defaults at a point of the scenario,
    with values.
    """
    parts = []
    for name, option in system.options.items():
        values = list(dict.fromkeys(options.get(name, option.default) for options in stated))
        is_set = any(name in options for options in stated)
        if is_set and (option.auto or values != [option.default]):
            parts.append(f"{name} = {' or '.join(map(_text, values))}")
    return ", ".join(parts)


def _text(value: float | int | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"
