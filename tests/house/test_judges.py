"""Every verdict can fail: each judge runs on made data that satisfy its claims, and on its twins.

The data of a figure come from a rule in `tests/papers/made/rules.py`. The failing twins are the
same data, spoiled in several ways. A row that no twin fails is a tautology.
"""

import ast

import numpy as np
import pytest

from halfway.papers import PAPERS
from halfway.papers.claims.thresholds import THRESHOLDS
from halfway.pipeline.reproduction.figures import Figure
from halfway.pipeline.reproduction.verdict import Verdict
from tests.house.sources import PACKAGE, REPOSITORY
from tests.papers.made.rules import RULES, TWINS
from tests.papers.made.summaries import SPOILERS, made

FIGURES: dict[str, Figure] = {
    f"{paper.name}/{figure.name}": figure
    for paper in PAPERS.values()
    for figure in paper.figures
    if figure.points("paper")
}
_HOLDS = ("agrees", "ours holds", "ours open")
_FAILS = ("differs", "impossible as printed", "ours fails")


def _named(verdict: Verdict) -> str:
    return f"{verdict.cell} {verdict.metric} | {verdict.interpretation} | {verdict.reason}"


def test_every_judge_has_data_of_its_own() -> None:
    assert sorted(RULES) == sorted(FIGURES)


@pytest.mark.parametrize("name", RULES)
def test_every_row_holds_on_data_that_satisfy_it_and_fails_on_a_twin(name: str) -> None:
    figure = FIGURES[name]
    rows = list(figure.judge(made(figure, RULES[name])))
    assert rows
    refused = [f"{_named(row)}: {row.verdict}" for row in rows if row.verdict not in _HOLDS]
    assert not refused, "\n".join(refused)
    data = [made(figure, RULES[name], spoiler) for spoiler in SPOILERS]
    data += [made(figure, rule) for rule in TWINS.get(name, ())]
    with np.errstate(all="ignore"):  # spoiled values may be impossible
        twins = [list(figure.judge(found)) for found in data]
    for index, row in enumerate(rows):
        found = {twin[index].verdict for twin in twins}
        measured_only = row.verdict == "ours open"
        assert measured_only or found & {*_FAILS}, f"cannot fail: {_named(row)}"
        assert not measured_only or found == {"ours open"}, f"judged, or not? {_named(row)}"


@pytest.mark.parametrize("name", RULES)
def test_what_no_paper_prints_is_not_in_the_published_column(name: str) -> None:
    figure = FIGURES[name]
    for spoiler in (None, *SPOILERS[:2]):
        with np.errstate(all="ignore"):
            rows = list(figure.judge(made(figure, RULES[name], spoiler)))
        for row in rows:
            assert (row.published is None) == row.verdict.startswith("ours"), _named(row)


def test_thresholds_stand_in_one_place() -> None:
    """A word has one threshold: no judge's module has a bound of its own."""
    room = REPOSITORY / "src" / PACKAGE / "papers"
    own = [
        f"{path.parent.name}/{path.name}: {ast.unparse(line)}"
        for path in room.glob("*/claims*.py")
        for line in ast.parse(path.read_text()).body
        if isinstance(line, ast.Assign)
        and isinstance(line.value, ast.Constant)
        and isinstance(line.value.value, float)
    ]
    assert not own, f"move to papers/claims/thresholds.py: {own}"
    words = [word for threshold in THRESHOLDS for word in threshold.words]
    assert len(words) == len(set(words))


def test_a_tautology_is_seen() -> None:
    """The spoilers fail an order, an equality and a zero, and not a constant."""
    figure = FIGURES["drip/figure-4"]
    seen = [made(figure, lambda _metric, _point: 1.0, spoiler) for spoiler in SPOILERS]
    one, other = ([data.find("delay", k=10, system=s).mean for data in seen]
                  for s in ("drip", "random"))  # fmt: skip
    assert any(a < 0.8 * b for a, b in zip(one, other, strict=True))
    assert any(a > 1.2 * b for a, b in zip(one, other, strict=True))
    assert all(spoiler(0.0, "x") >= 0 for spoiler in SPOILERS)
    assert any(spoiler(0.0, "x") > 1 for spoiler in SPOILERS)
