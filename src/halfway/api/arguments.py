"""Checks of the arguments of `halfway.simulate` and `halfway.compare`: each error is a Problem."""

import json
import os
from collections.abc import Iterable, Mapping
from numbers import Integral
from pathlib import Path
from typing import Any

from halfway.problem import Problem
from halfway.scenario.reading import ScenarioSource, plain_value
from halfway.scenario.schema import Scenario


def scenario_argument(given: object) -> ScenarioSource:
    """Return the scenario in an argument: a path, a dict, or a Scenario."""
    if isinstance(given, str | Path | Mapping | Scenario):
        return given
    remedy = 'write "scenario.toml", or {"network": {"kind": "unit-disk", "n": 50, "degree": 9}}'
    raise _unexpected("scenario", given, "a path or a dict", remedy)


def systems_argument(value: object) -> list[str]:
    """Return the names of systems in an argument: "flooding,gossip" or a list; empty for None."""
    if value is None:
        return []
    remedy = 'write systems="flooding,gossip", or systems=["flooding", "gossip"]'
    texts = [value] if isinstance(value, str) else value
    if not isinstance(texts, Iterable) or isinstance(texts, bytes | Mapping):
        raise _unexpected("systems", value, "names of systems", remedy)
    named = list(texts)
    if not all(isinstance(text, str) for text in named):
        raise _unexpected("systems", value, "names of systems", remedy)
    names = [name.strip() for text in named for name in text.split(",") if name.strip()]
    if named and not names:
        raise Problem(f"systems = {value!r}: expected at least one name", remedy=remedy)
    if files := [name for name in names if name.endswith(".py")]:
        what = f"systems = {value!r}: expected names of systems, but {files[0]} is a file"
        raise Problem(what, remedy=f'write user_systems=["{files[0]}"]')
    return names


def texts_argument(given: object, argument: str) -> list[str]:
    """Return the texts in an argument: one, or a list."""
    some = [given] if isinstance(given, str) else given
    if isinstance(some, list | tuple) and all(isinstance(one, str) for one in some):
        return list(some)
    raise _unexpected(argument, given, "text or a list of texts", f'write {argument}=["a.py"]')


def text_argument(given: object, argument: str, example: str) -> str | None:
    """Return the text in an argument, or None if the argument is missing."""
    if given is None or isinstance(given, str):
        return given
    raise _unexpected(argument, given, "text", f'write {argument}="{example}"')


def needs_argument(given: object) -> dict[str, float | str]:
    """Return the needs in an argument: metric -> its bound."""
    if given is None:
        return {}
    if isinstance(given, Mapping) and all(isinstance(name, str) for name in given):
        return dict(given)
    raise _unexpected("need", given, "a dict", 'write need={"delivery-ratio": 0.95}')


def count_argument(given: object, argument: str, example: int, most: int = 2**63 - 1) -> int:
    """Return the whole number in an argument, from 0 to `most`. NumPy integers are allowed."""
    remedy = f"write {argument}={example}"
    if isinstance(given, bool) or not isinstance(given, Integral):
        raise _unexpected(argument, given, "a whole number", remedy)
    if not 0 <= (number := int(given)) <= most:
        raise Problem(f"{argument} = {number}: expected 0 to {most:,}", remedy=remedy)
    return number


def path_argument(given: object, argument: str, example: str) -> Path:
    """Return the path in an argument."""
    if isinstance(given, str | os.PathLike):
        return Path(given)
    raise _unexpected(argument, given, "a path", f'write {argument}="{example}"')


def changes_argument(given: object) -> dict[str, str]:
    """Return the changes of a scenario in the argument `set`: field -> its new value as TOML."""
    remedy = 'write set={"workload.events": 20}'
    if not isinstance(given, Mapping) or not all(isinstance(field, str) for field in given):
        raise _unexpected("set", given, "a dict from field to value", remedy)
    return {field: toml(plain_value(value, f"set {field}")) for field, value in given.items()}


def sweep_argument(fields: object) -> dict[str, str]:
    """Return the sweep in an argument: field -> its values, as TOML or as "10,20,40"."""
    remedy = 'write sweep={"workload.events": [10, 20, 40]}'
    if not isinstance(fields, Mapping) or not all(isinstance(field, str) for field in fields):
        raise _unexpected("sweep", fields, "a dict from field to a list of values", remedy)
    sweeps = {}
    for field, values in fields.items():
        if isinstance(values, str):
            sweeps[field] = values
        elif isinstance(values, Iterable) and not isinstance(values, bytes | Mapping):
            sweeps[field] = ",".join(toml(plain_value(value, f"sweep {field}")) for value in values)
        else:
            raise _unexpected(f"sweep {field}", values, "a list of values", remedy)
    return sweeps


def toml(value: Any) -> str:
    """Return a plain value of an argument in the syntax of TOML."""
    match value:
        case str() | bool():
            return json.dumps(value, ensure_ascii=False)
        case list():
            return f"[{', '.join(map(toml, value))}]"
        case dict():
            pairs = (f"{json.dumps(name)} = {toml(inner)}" for name, inner in value.items())
            return f"{{{', '.join(pairs)}}}"
    return repr(value)


def _unexpected(argument: str, given: object, expected: str, remedy: str) -> Problem:
    """Return the Problem of an argument of a wrong type."""
    shown = repr(given)
    shown = shown if len(shown) <= 40 else f"{shown[:37]}..."
    what = f"{argument} = {shown}: expected {expected}, not {type(given).__name__}"
    return Problem(what, remedy=remedy)
