"""How numbers, intervals, cells and tallies read."""

import pytest

from halfway.pipeline.reproduction.verdict import NO_VALUE, Verdict
from halfway.report import wording
from tests.report.specimens import asynchrony_verdicts, load_verdicts


def verdict(**changes: object) -> Verdict:
    known: dict[str, object] = {
        "paper": "p", "figure": "f", "cell": {}, "metric": "m", "published": 1.0, "measured": 2.0,
        "low": 1.0, "high": 3.0, "replicates": 9, "interpretation": "", "verdict": "agrees",
        "reason": "",
    }  # fmt: skip
    return Verdict(**{**known, **changes})  # type: ignore[arg-type]


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


def test_tally_lines() -> None:
    assert wording.tally_line(asynchrony_verdicts()) == "46 of 48 agree · 1 same trend · 1 differs"
    text_found = wording.tally_line(load_verdicts())
    assert text_found == "10 of 16 agree · 5 impossible as printed · 1 not comparable"
    assert wording.tally_line([verdict()]) == "1 of 1 agrees"
    two = [verdict(verdict="differs")] * 2
    assert wording.tally_line(two) == "0 of 2 agree · 2 differ"


def test_statements_of_ours_are_not_counted_with_those_of_the_paper() -> None:
    mine = [verdict(published=None, verdict="ours holds")] * 2
    mine += [verdict(published=None, verdict="ours open")]
    assert wording.tally_line(mine) == "2 ours hold · 1 ours open"
    assert wording.tally_line([verdict(), *mine]) == "1 of 1 agrees · 2 ours hold · 1 ours open"


def test_interpretations_get_marks_only_in_a_table_of_several() -> None:
    assert wording.interpretation_labels(asynchrony_verdicts()) == {}
    assert list(wording.interpretation_labels(load_verdicts()).values()) == ["a", "b"]
    many = [verdict(interpretation=f"interpretation {index}") for index in range(28)]
    assert list(wording.interpretation_labels(many).values())[24:] == ["y", "z", "aa", "ab"]


def test_each_interpretation_has_its_own_tally() -> None:
    tallies = wording.interpretation_tallies(load_verdicts())
    assert list(tallies.values()) == [
        "10 of 11 agree · 1 not comparable",
        "0 of 5 agree · 5 impossible as printed",
    ]


def test_every_opinion_has_a_symbol_of_its_own() -> None:
    assert len({wording.SYMBOL[opinion] for opinion in wording.OPINIONS}) == len(wording.OPINIONS)


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
