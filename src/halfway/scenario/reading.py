"""A scenario file read and checked: what is wrong is named by field, value and what is allowed."""

import re
import tomllib
from collections import ChainMap
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, get_args

import msgspec

from halfway.adapters.interface import System, check_option
from halfway.adapters.registry import TABLE
from halfway.problem import Problem
from halfway.scenario.schema import (
    LEAST_HELLO_S,
    LEAST_SPEED,
    FromFile,
    Recorded,
    Scenario,
    Waypoint,
)
from halfway.sim.radio.declarations import DistanceAir, IdealAir


def read_scenario(
    path: str | Path,
    changes: Mapping[str, str] | None = None,
    systems: Mapping[str, System] | None = None,
) -> Scenario:
    """Read and check a scenario file; relative paths in it are relative to it.

    changes: "workload.events" -> "20", "faults[0].share" -> "0.5" and the like replace what the
    file says. systems: those of the user's own, whose options are known then. Raises Problem.
    """
    return checked(plain_scenario(path, changes), Path(path), systems)


def plain_scenario(path: str | Path, changes: Mapping[str, str] | None = None) -> dict[str, Any]:
    """What a scenario file says, with the changes, not yet checked. Raises Problem."""
    try:
        # Some editors begin with a mark.
        plain = tomllib.loads(Path(path).read_text("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None)
        what = str(reason).lower() if reason else "this is no text in UTF-8"
        raise Problem(what, where=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        raise Problem(f"this is no TOML: {error}", where=str(path)) from None
    except RecursionError:
        raise Problem("this is nested too deeply", where=str(path)) from None
    for field, value in (changes or {}).items():
        put(plain, field, written(value, f"--set {field}"), f"--set {field}")
    return plain


def written(value: str, where: str) -> Any:
    """A value as it is written in TOML; bare words are texts."""
    if len(f"{where}={value}".splitlines()) > 1:
        raise Problem(f"{where}: field and value are one line")
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value
    except RecursionError:
        raise Problem(f"{where}: this is nested too deeply") from None


def put(plain: dict[str, Any], field: str, new: Any, where: str) -> None:
    """Replace one value of a scenario; `where` says in an error who asked for it."""
    *outer, last = re.findall(r"[^.\[\]]+", field) or [field]
    inner: Any = plain
    for name in outer:
        inner = inner.setdefault(name, {}) if isinstance(inner, dict) else _item(inner, name, where)
    if isinstance(inner, list):
        _item(inner, last, where)
        inner[int(last)] = new
    elif isinstance(inner, dict):
        inner[last] = new
    else:
        raise Problem(f"{where}: there is no such table in the scenario")


def _item(inner: Any, name: str, where: str) -> Any:
    """One of a list's items, by its place; Problem where it has none there."""
    if not isinstance(inner, list):
        raise Problem(f"{where}: there is no such table in the scenario")
    if not re.fullmatch("[0-9]{1,9}", name) or int(name) >= len(inner):
        what = f"{where}: [{name}] is none of its {len(inner)} places"
        raise Problem(what, remedy="they are counted from 0" if inner else "the file has none")
    return inner[int(name)]


def input_files(scenario: Scenario) -> list[str]:
    """The files that a scenario reads, beside its own."""
    network, radio = scenario.network, scenario.radio
    files = [network.path] if isinstance(network, FromFile | Recorded) else []
    if isinstance(network, FromFile) and network.positions is not None:
        files.append(network.positions)
    if isinstance(radio, IdealAir | DistanceAir) and radio.ratios is not None:
        files.append(radio.ratios)
    return files


def with_files(scenario: Scenario, other: Callable[[str], str]) -> Scenario:
    """The scenario with another path for each of its `input_files`."""
    network, radio = scenario.network, scenario.radio
    if isinstance(network, FromFile | Recorded):
        network = msgspec.structs.replace(network, path=other(network.path))
    if isinstance(network, FromFile) and network.positions is not None:
        network = msgspec.structs.replace(network, positions=other(network.positions))
    if isinstance(radio, IdealAir | DistanceAir) and radio.ratios is not None:
        radio = msgspec.structs.replace(radio, ratios=other(radio.ratios))
    return msgspec.structs.replace(scenario, network=network, radio=radio)


def checked(
    plain: dict[str, Any], where: Path, systems: Mapping[str, System] | None = None
) -> Scenario:
    """What a scenario says, checked, its paths beside the file `where`. Raises Problem."""
    try:
        scenario = msgspec.convert(plain, Scenario)
    except msgspec.ValidationError as error:
        raise _explained(str(error), plain, where) from None
    try:
        _check_together(scenario, ChainMap(dict(systems or {}), TABLE))
    except Problem as problem:
        raise Problem(problem.what, where=str(where), remedy=problem.remedy) from None
    home = where.parent.absolute()
    return with_files(scenario, lambda path: str(home / path))


def _check_together(scenario: Scenario, systems: Mapping[str, System]) -> None:
    """What no field shows alone, and what would be passed over in silence."""
    for name, options in scenario.options.items():
        if name not in systems:
            what = f"options.{name}: '{name}' is no system"
            raise Problem(what, remedy=f"one of {', '.join(systems)}")
        for option, value in options.items():
            try:
                check_option(systems[name], option, value)
            except Problem as problem:
                what = problem.what.removeprefix(f"{name}: ")
                raise Problem(f"options.{name}: {what}", remedy=problem.remedy) from None
    radio, hello_s = scenario.radio, scenario.hello_s
    if isinstance(radio, IdealAir | DistanceAir) and radio.ratio_columns and radio.ratios is None:
        what = "radio.ratio_columns without radio.ratios: there is no table that has them"
        raise Problem(what, remedy="name the table in `ratios`")
    if isinstance(scenario.network, Waypoint | Recorded) and 0.0 < hello_s < LEAST_HELLO_S:
        what = f"hello_s = {hello_s:g}: where nodes move it is 0, or {LEAST_HELLO_S:g} s or more"
        raise Problem(what)
    if isinstance(scenario.network, Waypoint):
        for speed in scenario.network.speed:
            if 0.0 < speed < LEAST_SPEED:
                what = f"network.speed: {speed:g}: a speed is 0, or {LEAST_SPEED:g} or more"
                raise Problem(what)


def _explained(said: str, plain: dict[str, Any], where: Path) -> Problem:
    """The checker's sentence, with the field's value put in."""
    what, _, at = said.partition(" - at `")
    field = at.rstrip("`").removeprefix("$").lstrip(".")
    value: Any = plain
    for name, place in re.findall(r"([^.\[\]]+)|\[(\d+)\]", field):
        try:
            value = value[int(place)] if place else value[name]
        except (KeyError, IndexError, TypeError):
            value = None
    shown = "" if value is None or isinstance(value, dict | list) else f" = {value!r}"
    what = what[:1].lower() + what[1:]
    if field == "faults" and isinstance(value, dict):
        what = "there may be many, so each begins with [[faults]], two brackets a side"
    if "unknown field" in what or field.endswith(("kind", "fault")):
        what += f"; allowed here: {', '.join(_allowed(field, value))}"
    return Problem(f"{field}{shown}: {what}" if field else what, where=str(where))


def _allowed(field: str, value: Any) -> list[str]:
    """The names of a table's fields, or the kinds that there are of it."""
    fields = {spec.name: spec.type for spec in msgspec.structs.fields(Scenario)}
    top = re.split(r"[.\[]", field)[0]
    if not top:
        return list(fields)
    kinds = _parts(fields.get(top))
    tags = {str(part.__struct_config__.tag): part for part in kinds}
    if field.endswith(("kind", "fault")):
        return sorted(tags)
    chosen = value.get("kind", value.get("fault")) if isinstance(value, dict) else None
    part = tags.get(str(chosen), kinds[0] if kinds else None)
    return [] if part is None else [spec.encode_name for spec in msgspec.structs.fields(part)]


def _parts(declared: Any) -> list[Any]:
    """The structures that a field may be, out of unions and lists."""
    inner = get_args(declared)
    if not inner:
        return [declared] if hasattr(declared, "__struct_config__") else []
    return [part for one in inner for part in _parts(one)]
