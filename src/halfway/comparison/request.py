"""From what a user types to a question: the file, the systems, and who cannot run there."""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from halfway.adapters.registry import TABLE, named
from halfway.adapters.user_protocol import read_user_system, user_system
from halfway.comparison import MOST_ADDED, REPLICATES
from halfway.comparison.compare import Question
from halfway.comparison.metrics import METRICS
from halfway.comparison.points import Contender
from halfway.comparison.stopping import Until
from halfway.problem import Problem
from halfway.scenario.build import simulation_on, staged
from halfway.scenario.sweep import ScenarioPoint, read_sweep

_MOST_REPLICATES = 100_000
_OURS = {"seed": "--seed", "system": "--systems"}  # field -> what sets it in a comparison
_UNTIL = re.compile(
    r"half-width=((?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e-?[0-9]+)?)(%?)(?:,([a-z0-9-]+))?"
)


def asked(
    path: str | Path,
    systems: Sequence[str] = (),
    *,
    own: Sequence[str] = (),
    baseline: str | None = None,
    replicates: int = REPLICATES,
    until: str | None = None,
    most: int = MOST_ADDED,
    changes: Mapping[str, str] | None = None,
    sweeps: Mapping[str, str] | None = None,
) -> Question:
    """The question that these words ask, checked before anything runs.

    systems: names (default: all that there are); own: files or modules with systems of the user's;
    until: "half-width=2%" or "half-width=2%,energy". Raises Problem naming what is wrong.
    """
    for field, option in _OURS.items():
        if field in (changes or {}):
            what = f"--set {field}: a comparison sets it in each of its runs"
            raise Problem(what, remedy=f"use {option}")
    sources = [read_user_system(one) for one in own]
    ours = {source.name: user_system(source) for source in sources}
    contenders = [Contender(name) for name in _chosen(systems)]
    contenders += [Contender(*source) for source in sources]
    if len({one.name for one in contenders}) < len(contenders):
        raise Problem("a system is named twice")
    bound = parsed(until)
    if not 1 <= replicates <= _MOST_REPLICATES:
        raise Problem(f"replicates = {replicates}: it must be from 1 to {_MOST_REPLICATES:,}")
    if bound is not None and most < replicates:
        raise Problem(f"replicates = {replicates}, but {most} at the most: nothing can be added")
    base, points = read_sweep(path, changes, sweeps, ours)
    base = base if base.title else msgspec.structs.replace(base, title=Path(path).stem)
    fit, unsupported = _sorted_out(points, contenders)
    reference = baseline or ("flooding" if "flooding" in fit else next(iter(fit)))
    if reference not in fit:
        why = unsupported.get(reference, f"it is none of {', '.join(fit)}")
        raise Problem(f"the baseline {reference} does not run here: {why}")
    return Question(
        base, points, list(fit.values()), reference, unsupported, replicates, bound, most
    )


def parsed(until: str | None) -> Until | None:
    """`half-width=2%[,metric]`; Problem for anything else."""
    if until is None:
        return None
    found = _UNTIL.fullmatch(until.replace(" ", ""))
    names = [metric.name for metric in METRICS]
    if not found or (found[3] and found[3] not in names):
        remedy = f"half-width=2% or half-width=0.02,METRIC; metrics: {', '.join(names)}"
        raise Problem(f"--until {until}: this is no bound", remedy=remedy)
    width = float(found[1]) / (100.0 if found[2] else 1.0)
    if not 0.0 < width < 1e6:
        raise Problem(f"--until {until}: the half-width must be above 0")
    return Until(width, found[3] or "delivery-ratio")


def _chosen(systems: Sequence[str]) -> list[str]:
    names = [name.strip() for name in systems if name.strip()]
    for name in names:
        named(name)  # a slip of the finger is told at once
    return names or list(TABLE)


def _sorted_out(
    points: Sequence[ScenarioPoint], contenders: Sequence[Contender]
) -> tuple[dict[str, Contender], dict[str, str]]:
    """Who can run at every point, and why the others cannot."""
    unsupported: dict[str, str] = {}
    for point in points:
        stage = staged(point.scenario)  # a Problem here is nobody's in particular
        for one in contenders:
            if one.name in unsupported:
                continue
            try:
                simulation_on(stage, point.scenario, one.system())
            except Problem as problem:
                unsupported[one.name] = _reason(problem, point, one.name)
            stage = stage if stage.motion is None else staged(point.scenario)
    fit = {one.name: one for one in contenders if one.name not in unsupported}
    if not fit:
        name, why = next(iter(unsupported.items()))
        raise Problem(f"no system can run here; {name}: {why}")
    return fit, unsupported


def _reason(problem: Problem, point: ScenarioPoint, name: str) -> str:
    why = problem.what.removeprefix(f"{name} cannot run here: ")
    where = ", ".join(f"{field} = {value}" for field, value in point.varies.items())
    return f"{why} (at {where})" if where else why
