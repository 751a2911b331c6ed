"""The values of a sweep: lists, ranges with a step or a factor, and what is refused."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.scenario.schema import FromFile
from halfway.scenario.swept_points import read_sweep

SCENARIO = {"network": {"kind": "unit-disk", "n": 40, "degree": 8.0}}
EVENTS, PERIOD = "workload.events", "workload.every_s"


def swept(field: str, text: str, **more: Any) -> list[Any]:
    """The values of a field at the points of a sweep."""
    _, points = read_sweep(SCENARIO | more, sweeps={field: text} if text else {})
    return [point.varies[field] for point in points]


@pytest.mark.parametrize(
    ("field", "text", "values"),
    [
        (EVENTS, "5..50:15", [5, 20, 35, 50]),
        (EVENTS, "5..49:15", [5, 20, 35]),
        (EVENTS, "1..1000:x10", [1, 10, 100, 1000]),
        (EVENTS, "1,3..5:1,4", [1, 3, 4, 5]),
        (EVENTS, "7..7:1", [7]),
        (PERIOD, "0.1..0.5:0.1", [0.1, 0.2, 0.3, 0.4, 0.5]),
        (PERIOD, "0.01..1:x10", [0.01, 0.1, 1.0]),
        (PERIOD, "1 .. 2 : 5e-1", [1.0, 1.5, 2.0]),
    ],
)
def test_a_range_has_a_step_or_a_factor(field: str, text: str, values: list[float]) -> None:
    found = swept(field, text)
    assert found == values
    assert [type(one) for one in found] == [type(one) for one in values]


def test_a_range_in_the_file_is_one_of_its_values() -> None:
    assert swept(EVENTS, "", sweep={EVENTS: [2, "10..30:10"]}) == [2, 10, 20, 30]


@given(first=st.integers(1, 1000), step=st.integers(1, 50), count=st.integers(1, 40))
def test_a_range_ends_at_its_last_value(first: int, step: int, count: int) -> None:
    last = first + step * (count - 1)
    assert swept(EVENTS, f"{first}..{last}:{step}") == list(range(first, last + 1, step))
    tenths = swept(PERIOD, f"{first / 10}..{last / 10}:{step / 10}")
    assert tenths == [one / 10 for one in range(first, last + 1, step)]


@pytest.mark.parametrize("text", ["3..1:1", "1..5:0", "1..9:-1", "1..9:x1", "0..9:x2"])
def test_a_range_that_does_not_rise_is_refused(text: str) -> None:
    with pytest.raises(Problem, match=r"in FIRST\.\.LAST:x?(FACTOR|STEP), expected the "):
        swept(EVENTS, text)


def test_a_range_of_too_many_values_is_refused() -> None:
    with pytest.raises(Problem, match="points: expected at most 1,000"):
        swept(EVENTS, "1..1000000000:1")


def test_files_are_swept_by_their_names() -> None:
    _, points = read_sweep(
        {"network": {"kind": "file", "path": "links.csv"}}, sweeps={"network.path": "a.csv,b.csv"}
    )
    networks = [point.scenario.network for point in points]
    assert [Path(one.path).name for one in networks if isinstance(one, FromFile)] == [
        "a.csv", "b.csv",
    ]  # fmt: skip
