"""The reader of scenario files; an error names the field, the value and the expected values."""

import re
import tomllib
from collections.abc import Callable, Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any, get_args

import msgspec

from halfway.adapters.interface import System
from halfway.adapters.registry import TABLE, unknown
from halfway.core.values.field_messages import plain_words
from halfway.files import read_limited
from halfway.problem import Problem
from halfway.scenario import schema
from halfway.scenario.schema import FromFile, Recorded, Scenario, Waypoint, converted
from halfway.scenario.workload import files_of, with_other_files
from halfway.sim.radio.declarations import CsmaRadio, DistanceRadio, IdealRadio

_MOST_BYTES = 4_000_000  # most bytes of a scenario file

# A TOML file, a mapping with the same fields, or a scenario that is already read.
ScenarioSource = str | Path | Mapping[str, Any] | Scenario


def read_scenario(
    scenario: ScenarioSource,
    changes: Mapping[str, str] | None = None,
    systems: Mapping[str, System] | None = None,
) -> Scenario:
    """Read and check a scenario; its paths are relative to the file, or to the current folder.

    changes: values that replace values of the file, such as "workload.events" -> "20" or
    "faults[0].share" -> "0.5". systems: the systems of the user, whose options are checked too.
    Raises Problem.
    """
    return checked(plain_scenario(scenario, changes), file_of(scenario), systems)


def file_of(scenario: ScenarioSource) -> Path:
    """Return the path of the scenario's file, or a path in the current folder if it has none."""
    return Path(scenario) if isinstance(scenario, str | Path) else Path("scenario")


def plain_scenario(
    scenario: ScenarioSource, changes: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Read the content of a scenario file with the changes, unchecked. Raises Problem."""
    plain = _content(scenario)
    for field, value in (changes or {}).items():
        put(plain, field, written(value, f"set {field}"), f"set {field}")
    return plain


def _content(scenario: ScenarioSource) -> dict[str, Any]:
    """Return the content of a scenario's file or mapping, unchecked. Raises Problem."""
    if isinstance(scenario, Scenario):
        scenario = dict(msgspec.to_builtins(scenario))
    if isinstance(scenario, Mapping):
        return dict(plain_value(scenario, "scenario"))
    path = Path(scenario)
    try:
        data = read_limited(path, _MOST_BYTES)
        # Some editors begin a file with a byte order mark.
        return tomllib.loads(data.decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None)
        what = str(reason).lower() if reason else "expected text in UTF-8"
        raise Problem(what, where=str(path)) from None
    except tomllib.TOMLDecodeError as error:
        what, remedy = f"invalid TOML: {plain_words(str(error))}", "correct the file at this place"
        if path.suffix != ".toml":  # a file of links or movement
            remedy = f"`halfway init {path}` makes a scenario for a file of links"
        raise Problem(what, where=str(path), remedy=remedy) from None
    except RecursionError:
        what = "values are nested too deeply: expected the tables of docs/scenarios.md"
        raise Problem(what, where=str(path)) from None


def plain_value(value: object, field: str) -> Any:
    """Convert a scenario's value to the types of TOML, as the reader gets them from a file: text
    for paths, no entries of None.

    NumPy numbers become Python's numbers. Raises Problem for a value that TOML does not have.
    """
    match value:
        case str() | bool():
            return value
        case Path():
            return str(value)
        case Integral():
            return int(value)
        case Real():
            return float(value)
        case list() | tuple():
            return [plain_value(entry, f"{field}[{k}]") for k, entry in enumerate(value)]
        case Mapping() if all(isinstance(name, str) for name in value):
            return {
                name: plain_value(inner, f"{field}.{name}".removeprefix("scenario."))
                for name, inner in value.items()
                if inner is not None
            }
    shown = f"{field} = {str(value)[:40]}"
    if isinstance(value, Mapping):
        raise Problem(f"{shown}: expected text as the keys of a dict", remedy='write {"3": 4}')
    what = f"{shown}: expected a value of TOML, not {type(value).__name__}"
    raise Problem(what, remedy="use text, numbers, True, False, lists and dicts")


def written(value: str, where: str) -> Any:
    """Read the value of a scenario file's field from text in TOML; bare words are strings."""
    if len(f"{where}={value}".splitlines()) > 1:
        raise Problem(f"{where}: expected a field and its value on one line")
    try:
        return tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        return value
    except RecursionError:
        raise Problem(f"{where}: the value has too many nested levels: expected fewer") from None


def put(plain: dict[str, Any], field: str, new: Any, where: str) -> None:
    """Replace one value in the unchecked content of a scenario; `where` begins the errors."""
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
        raise _no_table(where)


def _item(inner: Any, name: str, where: str) -> Any:
    """Return an item of a list in a scenario file by index. Raises Problem beyond the end."""
    if not isinstance(inner, list):
        raise _no_table(where)
    if not re.fullmatch("[0-9]{1,9}", name) or int(name) >= len(inner):
        expected = f"an index from 0 to {len(inner) - 1}"
        if len(inner) < 2:
            expected = "[0], the only entry" if inner else "no index, because the list is empty"
        raise Problem(f"{where}: [{name}]: expected {expected}")
    return inner[int(name)]


def _no_table(where: str) -> Problem:
    remedy = "docs/scenarios.md lists all fields"
    return Problem(f"{where}: the scenario has no such table", remedy=remedy)


def input_files(scenario: Scenario) -> list[str]:
    """Return the paths of all files that a scenario refers to."""
    network, radio = scenario.network, scenario.radio
    files = [network.path] if isinstance(network, FromFile | Recorded) else []
    if isinstance(network, FromFile) and network.positions is not None:
        files.append(network.positions)
    if isinstance(radio, IdealRadio | DistanceRadio | CsmaRadio) and radio.ratios is not None:
        files.append(radio.ratios)
    if isinstance(scenario.power.battery_j, str):
        files.append(scenario.power.battery_j)
    return files + files_of(scenario.workload)


def with_files(scenario: Scenario, other: Callable[[str], str]) -> Scenario:
    """Return the scenario that was read with other paths for its `input_files`; `other` maps each
    path.
    """
    network, radio = scenario.network, scenario.radio
    if isinstance(network, FromFile | Recorded):
        network = msgspec.structs.replace(network, path=other(network.path))
    if isinstance(network, FromFile) and network.positions is not None:
        network = msgspec.structs.replace(network, positions=other(network.positions))
    if isinstance(radio, IdealRadio | DistanceRadio | CsmaRadio) and radio.ratios is not None:
        radio = msgspec.structs.replace(radio, ratios=other(radio.ratios))
    workload, power = with_other_files(scenario.workload, other), scenario.power
    if isinstance(power.battery_j, str):
        power = msgspec.structs.replace(power, battery_j=other(power.battery_j))
    return msgspec.structs.replace(
        scenario, network=network, radio=radio, workload=workload, power=power
    )


def checked(
    plain: dict[str, Any], where: Path, systems: Mapping[str, System] | None = None
) -> Scenario:
    """Check the plain values of a scenario that was read; paths are relative to the file `where`.
    Raises Problem.
    """
    try:
        scenario = converted(plain)
    except msgspec.ValidationError as error:
        raise _explained(str(error), plain, where) from None
    try:
        _check_together(scenario, systems or {})
    except Problem as problem:
        what = f"{problem.where}: {problem.what}" if problem.where else problem.what
        raise Problem(what, where=str(where), remedy=problem.remedy) from None
    home = where.parent.absolute()
    return with_files(scenario, lambda path: str(home / path))


def _check_together(scenario: Scenario, own: Mapping[str, System]) -> None:
    """Check a scenario's options of systems, and fields that depend on each other."""
    for name, options in scenario.options.items():
        system = own.get(name) or TABLE.get(name)
        if system is None:
            raise unknown(name, [*TABLE, *own], f"options.{name}")
        for option, value in options.items():
            try:
                system.check_option(option, value)
            except Problem as problem:
                what = problem.what.removeprefix(f"{name}: ")
                raise Problem(f"options.{name}: {what}", remedy=problem.remedy) from None
    radio, delay_s = scenario.radio, scenario.discovery_delay_s
    if (
        isinstance(radio, IdealRadio | DistanceRadio | CsmaRadio)
        and radio.ratio_columns
        and radio.ratios is None
    ):
        what = "radio.ratio_columns: expected radio.ratios as well"
        raise Problem(what, remedy="name the table in `ratios`")
    if scenario.network.moves and 0.0 < delay_s < schema.LEAST_DELAY_S:
        expected = f"expected 0, or at least {schema.LEAST_DELAY_S:g} for moving nodes"
        raise Problem(f"discovery_delay_s = {delay_s:g}: {expected}")
    if isinstance(scenario.network, Waypoint):
        for speed in scenario.network.speed:
            if 0.0 < speed < schema.LEAST_SPEED:
                what = f"network.speed = {speed:g}: expected 0, or at least {schema.LEAST_SPEED:g}"
                raise Problem(what)


def _explained(error: str, plain: dict[str, Any], where: Path) -> Problem:
    """Return the Problem of a scenario file's validation error, with the field's value."""
    what, _, at = error.partition(" - at `")
    field = at.rstrip("`").removeprefix("$").lstrip(".")
    value, _ = _value_at(plain, field)
    shown = "" if value is None or isinstance(value, dict | list) else f" = {value!r}"
    what = plain_words(what)
    if field == "faults" and isinstance(value, dict):
        what = "expected a list of tables: begin each with [[faults]]"
    elif "unknown field" in what:
        what += f"; allowed here: {', '.join(_allowed(what, field, plain))}"
    elif what.startswith("invalid "):
        what = f"expected one of {', '.join(_allowed(what, field, plain))}"
    field = field.replace("[...]", ".NAME")  # a table with names of the user
    return Problem(f"{field}{shown}: {what}" if field else what, where=str(where))


def _value_at(plain: dict[str, Any], field: str) -> tuple[Any, Any]:
    """Return the value of a field in the unchecked content of a scenario, and its declared type;
    None for a value or a type that does not exist.
    """
    value: Any = plain
    declared: Any = Scenario
    for name, place in re.findall(r"([^.\[\]]+)|\[(\d+|\.\.\.)\]", field):
        if name:
            types = {spec.encode_name: spec.type for spec in _fields(declared, value)}
            declared = types.get(name)
        try:
            value = value[int(place) if place else name]
        except (KeyError, IndexError, TypeError, ValueError):
            value = None
    return value, declared


def _allowed(what: str, field: str, plain: dict[str, Any]) -> list[str]:
    """Return the allowed texts of a scenario's field, its kinds, or the fields of a table."""
    value, declared = _value_at(plain, field)
    if "enum" in what:
        return [leaf for leaf in _leaves(declared) if isinstance(leaf, str)]
    if what.startswith("invalid "):
        parts = _parts(_value_at(plain, field.rpartition(".")[0])[1])
        return sorted(str(part.__struct_config__.tag) for part in parts)
    return [spec.encode_name for spec in _fields(declared, value)]


def _fields(declared: Any, table: Any) -> tuple[msgspec.structs.FieldInfo, ...]:
    """Return the fields of a scenario's table, by the kind of the table."""
    parts = _parts(declared)
    tags = {str(part.__struct_config__.tag): part for part in parts}
    kind = table.get("kind", table.get("fault")) if isinstance(table, dict) else None
    part = tags.get(str(kind), parts[0] if parts else None)
    return () if part is None else msgspec.structs.fields(part)


def _parts(declared: Any) -> list[Any]:
    """Return the structures of a scenario field's type."""
    return [leaf for leaf in _leaves(declared) if hasattr(leaf, "__struct_config__")]


def _leaves(declared: Any) -> list[Any]:
    """Return the structures and the texts of a field's type, out of unions and lists."""
    inner = get_args(declared)
    return [leaf for part in inner for leaf in _leaves(part)] if inner else [declared]
