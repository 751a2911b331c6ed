"""The help of `halfway simulate` names every kind of a scenario's network, radio and faults."""

import re
from typing import Any, get_args, get_type_hints

import pytest

from halfway.cli.commands.simulate import simulate
from halfway.scenario.schema import AnyWorkload, Scenario
from halfway.sim.radio.declarations import Radio
from halfway.world.faults import Fault

_PLACE = "the docstring of `simulate` in cli/commands/simulate.py"


@pytest.mark.parametrize(
    ("table", "declared", "without_name"),
    [
        ("network", get_type_hints(Scenario)["network"], set()),
        ("radio", Radio, set()),
        ("workload", AnyWorkload, {"drawn"}),  # a workload without a kind is drawn
        ("faults", Fault, set()),
    ],
)
def test_the_help_names_each_kind_of_the_schema(
    table: str, declared: Any, without_name: set[str]
) -> None:
    tags = {part.__struct_config__.tag for part in get_args(declared)}
    # `\[radio]` begins the lines of a table, and `\[[faults]]` those of a list of tables.
    tables = re.split(r"\\\[+", simulate.__doc__ or "")
    (lines,) = (text for text in tables if text.startswith(f"{table}]"))
    named = set(re.findall(r'"([a-z-]+)"', lines))
    assert named == tags - without_name, f"expected in {_PLACE}: {sorted(tags - without_name)}"
