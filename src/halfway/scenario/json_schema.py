"""The JSON schema of the scenario file, for editors: fields, ranges, meanings, options of systems.

msgspec derives it from `schema.py`. `descriptions.json` has the meanings of docs/scenarios.md.
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import msgspec

from halfway.adapters.registry import TABLE
from halfway.package import __version__
from halfway.scenario.schema import Scenario

NAME = "halfway.schema.json"
_DRAFT = "http://json-schema.org/draft-07/schema#"  # the newest that editors of TOML know


@cache
def descriptions() -> dict[str, dict[str, str]]:
    """Return the meanings of fields in the JSON schema of the scenario file: table, with its kind,
    -> field -> meaning.
    """
    path = Path(__file__).with_name("descriptions.json")
    found: dict[str, dict[str, str]] = json.loads(path.read_text("utf-8"))
    return found


def json_schema() -> str:
    """Return the JSON schema of the scenario file, as text."""
    plain = _cleaned(msgspec.json.schema(Scenario, ref_template="#/definitions/{name}"))
    parts = plain.pop("$defs")
    top = parts.pop("Scenario")
    parts["Workload"]["required"].remove("kind")  # a workload without a kind is drawn
    _describe(top["properties"], "top")
    for table, declared in top["properties"].items():
        for part in _parts(declared, parts):
            fields = part["properties"]
            for name, inner in fields.items():
                if f"{table}.{name}" in descriptions():
                    (table_below,) = _parts(inner, parts)
                    _describe(table_below["properties"], f"{table}.{name}")
            # A fault may have a kind of its own, such as the kind of an attack.
            tags = [fields[tag]["enum"][0] for tag in ("fault", "kind") if tag in fields]
            _describe(fields, " ".join([table, *tags[:1]]))
    for part in parts.values():
        _allow_both_forms(part["properties"])
    top["properties"]["system"]["enum"] = list(TABLE)
    top["properties"]["options"] = _options()
    head = {
        "$schema": _DRAFT,
        "title": f"Scenario of halfway {__version__}",
        "type": "object",
    }
    names = ("properties", "required", "additionalProperties")
    return (
        json.dumps(
            head | {name: top[name] for name in names} | {"definitions": parts},
            indent=1,
            ensure_ascii=False,
            allow_nan=False,
        )
        + "\n"
    )


def _allow_both_forms(fields: dict[str, Any]) -> None:
    """Let names of columns be a text with commas or a list, as `schema.converted` does."""
    for name in {"quality", "ratio_columns"} & fields.keys():
        forms = [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]
        del fields[name]["type"]
        fields[name].pop("items", None)
        fields[name]["anyOf"] = forms


def _describe(fields: dict[str, Any], table: str) -> None:
    """Add the meanings of a table's fields to their schemas."""
    for name, meaning in descriptions().get(table, {}).items():
        if name in fields:
            fields[name] = _with_description(fields[name], meaning)


def _with_description(declared: dict[str, Any], meaning: str) -> dict[str, Any]:
    # Draft 7 ignores everything beside a reference.
    if "$ref" in declared:
        return {"allOf": [declared], "description": meaning}
    return {**declared, "description": meaning}


def _parts(declared: dict[str, Any], parts: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the JSON schemas of the structures that a field of a scenario refers to."""
    some = declared.get("items", declared)
    references = [one["$ref"] for one in some.get("anyOf", [some]) if "$ref" in one]
    return [parts[reference.rpartition("/")[2]] for reference in references]


def _options() -> dict[str, Any]:
    """Return the schema of the options of all systems. Other systems are protocols of users."""
    systems = {
        name: {
            "type": "object",
            "properties": {option: _option(*about[:5]) for option, about in system.options.items()},
            "additionalProperties": False,
        }
        for name, system in TABLE.items()
    }
    return {"type": "object", "properties": systems, "additionalProperties": {"type": "object"}}


def _option(default: float, low: float, high: float, meaning: str, auto: bool) -> dict[str, Any]:
    shown: dict[str, Any] = {"description": meaning}
    if not auto:  # a scenario chooses the value of an automatic option
        shown["default"] = default
    if isinstance(default, bool):
        return {"type": "boolean", **shown}
    number_type = "integer" if isinstance(default, int) else "number"
    return {"type": number_type, "minimum": low, "maximum": high, **shown}


def _cleaned(value: Any) -> Any:
    """Return a schema in draft 7 without null, which TOML has not, and values that JSON has not."""
    if isinstance(value, list):
        return [_cleaned(part) for part in value]
    if not isinstance(value, dict):
        return value
    cleaned = {
        name: _cleaned(part)
        for name, part in value.items()
        if name != "discriminator" and not (name == "default" and _unwritable(part))
    }
    if "prefixItems" in cleaned:  # draft 7 has another name
        cleaned["items"] = cleaned.pop("prefixItems")
    kinds = [part for part in cleaned.get("anyOf", []) if part != {"type": "null"}]
    if len(kinds) == 1:
        del cleaned["anyOf"]
        cleaned |= kinds[0]
    elif kinds:
        cleaned["anyOf"] = kinds
    return cleaned


def _unwritable(default: Any) -> bool:
    """Return whether JSON, and so the JSON schema, cannot have a default of the scenario or a part
    of it.
    """
    if isinstance(default, dict):
        return any(map(_unwritable, default.values()))
    return default is None or (isinstance(default, float) and not math.isfinite(default))
