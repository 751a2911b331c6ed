"""The notes on options: acknowledgements that a scenario chooses, and options that a scenario
sets.
"""

from collections.abc import Iterator, Mapping, Sequence

from halfway.adapters.interface import System
from halfway.scenario.acknowledgements import (
    RETRIES,
    WAITS,
    acknowledges,
    is_automatic,
    options_of,
)
from halfway.scenario.schema import Scenario

_LONGEST = 140  # characters of a note's list, so that the note fits two lines


def option_notes(scenarios: Sequence[Scenario], systems: Sequence[System]) -> Iterator[str]:
    """Yield the notes on the options of a comparison's systems. scenarios: the scenarios of all
    points.
    """
    if any(map(acknowledges, scenarios)):
        yield from _on_acknowledgements(scenarios, systems)
    yield from _on_waits(scenarios, systems)
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


def _on_waits(scenarios: Sequence[Scenario], systems: Sequence[System]) -> Iterator[str]:
    """Yield a note on each system whose waits for answers over many hops are longer than usual,
    because of the radio.
    """
    for system in systems:
        waits = {wait: _chosen(scenarios, system, wait) for wait in WAITS}
        longer = [
            f"{wait} = {' or '.join(map(_text, values))}"
            for wait, values in waits.items()
            if values and values[-1] > system.options[wait].default
        ]
        if longer:
            yield (
                f"{system.name}: on a radio with contention, {', '.join(longer)} by default. "
                "Shorter waits fill the radio. Failures are detected later."
            )


def _chosen(scenarios: Sequence[Scenario], system: System, option: str) -> list[float]:
    """Return the values of an automatic option that scenarios choose for a system, ascending."""
    if not is_automatic(system, option):
        return []
    given = [one.options.get(system.name, {}) for one in scenarios]
    pairs = zip(scenarios, given, strict=True)
    return sorted({options_of(one, system)[option] for one, own in pairs if option not in own})


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
