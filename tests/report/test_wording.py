"""How numbers, intervals, cells and times read."""

import pytest

from halfway.pipeline.reproduction.verdict import NO_VALUE
from halfway.report import wording
from tests.report.specimens import verdict


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (192.0, "192"),
        (1267.4, "1267"),
        (62.84, "62.8"),
        (7.123, "7.12"),
        (0.13249, "0.132"),
        (0.0, "0"),
        (-21.44, "-21.4"),
        (2.0, "2"),
        ("6-10", "6-10"),
        (None, NO_VALUE),
        ("", NO_VALUE),
        (float("nan"), NO_VALUE),
        (float("inf"), NO_VALUE),
    ],
)
def test_numbers_keep_three_digits_and_claims_their_words(value: float | str, text: str) -> None:
    assert wording.number(value) == text


@pytest.mark.parametrize(
    ("measured", "low", "high", "text"),
    [
        (192.0, 181.6, 204.4, "182-204"),
        (7.123, 6.9, 7.5, "6.90-7.50"),
        (56.0, 53.25, 58.5, "53.2-58.5"),
        (None, 1.0, 2.5, "1.00-2.50"),
        (5.0, None, 6.0, "-"),
        (5.0, float("nan"), float("nan"), "-"),
    ],
)
def test_intervals(measured: float | None, low: float, high: float, text: str) -> None:
    text_found = wording.interval(verdict(measured=measured, low=low, high=high))
    assert text_found.replace(NO_VALUE, "-") == text


def test_cells_name_words_first_and_bare() -> None:
    assert wording.cell({"n": 1500, "system": "gossip", "r": 0.04}) == "gossip n=1500 r=0.04"
    assert wording.cell({"over": True, "k": 1}) == "over=yes k=1"
    assert wording.cell({}) == ""


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.43, "0.4 s"),
        (38.2, "38 s"),
        (59.7, "1 min 00 s"),
        (250, "4 min 10 s"),
        (7500, "2 h 05 min"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert wording.duration(seconds) == text


def test_shares_come_largest_first_without_what_took_no_time() -> None:
    text_found = wording.shares({"networks": 1.0, "walking": 3.0, "compiling": 0.0, "idle": -0.1})
    assert [phase for phase, _, _ in text_found] == ["walking", "networks"]
    assert wording.shares({}) == []
