"""How tallies and interpretations of verdicts read."""

from halfway.report.verdicts.verdict_wording import (
    OPINIONS,
    SYMBOL,
    interpretation_labels,
    interpretation_tallies,
    tally_line,
)
from tests.report.specimens import asynchrony_verdicts, load_verdicts, verdict


def test_tally_lines() -> None:
    assert tally_line(asynchrony_verdicts()) == "46 of 48 agree · 1 same trend · 1 differs"
    text_found = tally_line(load_verdicts())
    assert text_found == "10 of 16 agree · 5 impossible as printed · 1 not comparable"
    assert tally_line([verdict()]) == "1 of 1 agrees"
    two = [verdict(verdict="differs")] * 2
    assert tally_line(two) == "0 of 2 agree · 2 differ"


def test_statements_of_ours_are_not_counted_with_those_of_the_paper() -> None:
    mine = [verdict(published=None, verdict="ours holds")] * 2
    mine += [verdict(published=None, verdict="ours open")]
    assert tally_line(mine) == "2 ours hold · 1 ours open"
    assert tally_line([verdict(), *mine]) == "1 of 1 agrees · 2 ours hold · 1 ours open"


def test_interpretations_get_marks_only_in_a_table_of_several() -> None:
    assert interpretation_labels(asynchrony_verdicts()) == {}
    assert list(interpretation_labels(load_verdicts()).values()) == ["a", "b"]
    many = [verdict(interpretation=f"interpretation {index}") for index in range(28)]
    assert list(interpretation_labels(many).values())[24:] == ["y", "z", "aa", "ab"]


def test_each_interpretation_has_its_own_tally() -> None:
    tallies = interpretation_tallies(load_verdicts())
    assert list(tallies.values()) == [
        "10 of 11 agree · 1 not comparable",
        "0 of 5 agree · 5 impossible as printed",
    ]


def test_every_opinion_has_a_symbol_of_its_own() -> None:
    assert len({SYMBOL[opinion] for opinion in OPINIONS}) == len(OPINIONS)
