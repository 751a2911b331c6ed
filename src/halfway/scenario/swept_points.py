"""The points of a swept scenario: copies of the file with some fields replaced."""

import copy
import itertools
import math
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from halfway.adapters.interface import System
from halfway.problem import Problem
from halfway.scenario.reading import (
    ScenarioSource,
    checked,
    file_of,
    plain_scenario,
    put,
    written,
)
from halfway.scenario.schema import Scenario

SweepValue = str | int | float | bool
_MOST_POINTS = 1000
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?)"
_RANGE = re.compile(rf"{_NUMBER}\.\.{_NUMBER}:(x?){_NUMBER}")
_ROUNDING = 1e-9  # tolerance at the last value of a range
_FIXED = {
    "seed",
    "system",
    "title",
    "sweep",
    "decision",
    "",
}  # set by a comparison itself, or ignored


class ScenarioPoint(NamedTuple):
    """One point of a scenario's sweep: the replaced fields' values, and the resulting scenario."""

    varies: dict[str, SweepValue]
    scenario: Scenario


def read_sweep(
    scenario: ScenarioSource,
    changes: Mapping[str, str] | None = None,
    sweeps: Mapping[str, str] | None = None,
    systems: Mapping[str, System] | None = None,
) -> tuple[Scenario, list[ScenarioPoint]]:
    """Read a scenario, and the points of its table `sweep` in the order of a product.

    sweeps: field -> values separated by commas; the fields are added to the sweep of the file, or
    replace its fields. A file without a sweep is one point that varies nothing. Raises Problem
    naming the field.
    """
    where = file_of(scenario)
    plain = plain_scenario(scenario, changes)
    for field, values in (sweeps or {}).items():
        if isinstance(table := plain.setdefault("sweep", {}), dict):  # else `checked` raises
            table[field] = _values(values, field)
    base = checked(plain, where, systems)
    axes = {field: _axis(field, values, where) for field, values in base.sweep.items()}
    if math.prod(map(len, axes.values())) > _MOST_POINTS:
        what = f"sweep: {math.prod(map(len, axes.values())):,} points: expected at most"
        raise Problem(f"{what} {_MOST_POINTS:,}", where=str(where), remedy="sweep fewer values")
    points = []
    for chosen in itertools.product(*axes.values()):
        varies = dict(zip(axes, chosen, strict=True))
        changed = copy.deepcopy(plain)
        changed.pop("sweep", None)
        for field, value in varies.items():
            put(changed, field, value, f"sweep: {field}")
        points.append(ScenarioPoint(varies, checked(changed, where, systems)))
    return base, points


def _values(text: str, field: str) -> list[SweepValue]:
    """Return the values of a swept field, which commas separate, as in TOML; bare words are
    strings.
    """
    found = written(f"[{text}]", f"sweep {field}")
    if isinstance(found, str):
        found = [written(one.strip(), f"sweep {field}") for one in text.split(",")]
    return list(found)


def _axis(field: str, values: Sequence[SweepValue], where: Path) -> list[SweepValue]:
    top = field.strip().split(".")[0]
    if top in _FIXED:
        what = f"sweep.{field or repr(field)}: a sweep cannot change this field"
        raise Problem(what, where=str(where), remedy="sweep a field such as workload.events")
    if not values:
        raise Problem(f"sweep.{field}: expected at least one value", where=str(where))
    return list(dict.fromkeys(one for value in values for one in _expanded(value, field, where)))


def _expanded(value: SweepValue, field: str, where: Path) -> Sequence[SweepValue]:
    """Return the points of a swept range, such as 5..50:5 or 1..1000:x10, or one single value."""
    match = _RANGE.fullmatch(value.replace(" ", "")) if isinstance(value, str) else None
    if match is None:
        return [value]
    first, last, step = (float(match[k]) for k in (1, 2, 4))
    factor = bool(match[3])
    rising = step > 1.0 and first > 0.0 if factor else step > 0.0
    if not (rising and first <= last < math.inf):
        wrong = "the factor above 1, and the first value above 0" if factor else "the step above 0"
        wrong = wrong if not rising else "the last value not below the first one"
        form = "FIRST..LAST:xFACTOR" if factor else "FIRST..LAST:STEP"
        what = f"sweep.{field} = {value}: in {form}, expected {wrong}"
        raise Problem(what, where=str(where))
    whole = all(re.fullmatch(r"-?\d+", match[k]) for k in (1, 4))
    points: list[SweepValue] = []
    while len(points) <= _MOST_POINTS:
        at = first * step ** len(points) if factor else first + step * len(points)
        if at > last + _ROUNDING * (last if factor else step):
            break
        points.append(round(at) if whole else float(f"{at:.12g}"))
    return points
