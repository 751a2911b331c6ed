"""Tests of the JSON schema: the examples are valid, errors of fields are not, and meanings."""

import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from tools.scenario_descriptions import PAGE, written

from halfway.adapters.registry import TABLE
from halfway.scenario.json_schema import descriptions, json_schema

FOLDER = Path(__file__).parents[2] / "examples" / "scenarios"
SCHEMA = json.loads(json_schema())


def errors(plain: dict[str, Any]) -> list[str]:
    return [error.message for error in jsonschema.Draft7Validator(SCHEMA).iter_errors(plain)]


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("name", sorted(file.name for file in FOLDER.glob("*.toml")))
def test_the_examples_are_valid(name: str) -> None:
    assert errors(tomllib.loads((FOLDER / name).read_text("utf-8"))) == []


@pytest.mark.parametrize(
    "text",
    [
        'system = "drunk"',
        "seconds = 0",
        "frob = 1",
        '[radio]\nkind = "ideal"\nsucess = 1.0',
        '[radio]\nkind = "loud"',
        "[options.gossip]\nfanout = 2.5",
        "[options.gossip]\nfan_out = 2",
        "[options.drip]\nepidemic = 1",
        '[[faults]]\nfault = "crash"\nshare = 0.5',
        "[workload]\nevents = -1",
        '[network]\nkind = "random-waypoint"\nn = 9\nwidth = 9\nheight = 9\nradius = 3\n'
        "speed = [1]",
    ],
)
def test_a_wrong_field_is_an_error(text: str) -> None:
    network: dict[str, Any] = {"network": {"kind": "unit-disk", "n": 9, "degree": 3.0}}
    assert errors(network) == []
    assert errors(network | tomllib.loads(text))


def test_names_of_columns_are_a_list_or_a_text() -> None:
    for names in ("there,back", ["there", "back"]):
        network = {"kind": "file", "path": "links.csv", "quality": names}
        radio = {"kind": "ideal", "ratios": "links.csv", "ratio_columns": names}
        assert errors({"network": network, "radio": radio}) == []
    assert errors({"network": {"kind": "file", "path": "links.csv", "quality": [1]}})


def test_every_field_and_option_has_its_meaning() -> None:
    assert SCHEMA["properties"]["seconds"]["description"].startswith("The simulated time in s.")
    for name, part in SCHEMA["definitions"].items():
        for field, declared in part["properties"].items():
            assert field in ("kind", "fault") or declared["description"], f"{name}.{field}"
    options = SCHEMA["properties"]["options"]["properties"]
    assert {name: set(one["properties"]) for name, one in options.items()} == {
        name: set(system.options) for name, system in TABLE.items()
    }


def test_the_meanings_are_those_of_the_page() -> None:
    """If this fails, run tools/scenario_descriptions.py."""
    assert descriptions() == json.loads(written(PAGE.read_text("utf-8")))
