"""Every claim of a paper has its judge or test, and every judged row its claim; the page is new."""

import ast
from collections import Counter

import pytest
from tools.claims_page import PAGE, page, without_folder
from tools.kept_claims import with_kept

from halfway.papers import PAPERS
from halfway.papers.claims.claims_page import StudyVerdicts
from halfway.papers.claims.declared import Claim, claims
from halfway.pipeline.reproduction.verdict import NO_VALUE, Verdict
from tests.house.sources import REPOSITORY
from tests.house.test_judges import FIGURES
from tests.papers.made.rules import RULES
from tests.papers.made.summaries import made

COLUMNS = 4  # of a line of the page that come from the declarations alone


def rows_of(paper: str) -> list[Verdict]:
    """The rows of all judges of a paper, on made data, with something published."""
    return [
        row
        for name, figure in FIGURES.items()
        if name.startswith(f"{paper}/")
        for row in figure.judge(made(figure, RULES[name]))
        if row.published is not None
    ]


@pytest.mark.parametrize("paper", PAPERS)
def test_every_claim_has_rows_and_every_row_has_one_claim(paper: str) -> None:
    declared, rows = claims(paper), rows_of(paper)
    for row in rows:
        found = [claim for claim in declared if claim.is_judged_by(row)]
        assert len(found) == 1, (row.figure, row.metric, row.published)
    for claim in declared:
        if claim.status == "J":
            for figure in claim.where:
                judged = [row for row in rows if row.figure == figure and claim.is_judged_by(row)]
                assert judged, f"{figure} does not judge {claim.clause}"


@pytest.mark.parametrize("paper", PAPERS)
def test_every_implemented_claim_has_a_test_or_a_drawing(paper: str) -> None:
    for claim in claims(paper):
        if claim.status == "I":
            (where,) = claim.where
            figure = PAPERS[paper].figure(where)
            assert _is_test(where) or (figure and figure.drawing), f"{claim.clause}: no {where}"
        elif claim.status != "J":
            assert claim.note, f"{claim.clause}: a note says what is different or missing"


def _is_test(where: str) -> bool:
    file, _, name = where.partition("::")
    path = REPOSITORY / file
    if not name or not path.exists():
        return False
    parsed = ast.parse(path.read_text())
    return name in {node.name for node in parsed.body if isinstance(node, ast.FunctionDef)}


def test_a_clause_occurs_once() -> None:
    for paper in PAPERS:
        found = Counter((claim.section, claim.clause) for claim in claims(paper))
        assert max(found.values()) == 1


def test_the_page_has_every_declared_claim() -> None:
    """The page was written from these declarations; its verdicts come from a result folder."""
    written = _declared(PAGE.read_text("utf-8"))
    assert written == _declared(page([])), (
        "run `python -m tools.claims_page` with the result folders"
    )


def test_every_judged_claim_of_the_page_has_verdicts() -> None:
    lines = [line.split(" | ") for line in PAGE.read_text("utf-8").splitlines()]
    judged = [line for line in lines if len(line) == 8 and line[2] == "J"]
    assert judged
    for line in judged:
        assert line[5] != NO_VALUE, f"{line[1]}: reproduce {line[3]} for the page"


def _declared(text: str) -> list[str]:
    """The declared columns of the page's lines, each once."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return list(dict.fromkeys(" | ".join(line.split(" | ")[:COLUMNS]) for line in lines
                              if line.count(" | ") == 7))  # fmt: skip


def test_results_fill_the_columns_of_verdicts() -> None:
    found = rows_of("drip")
    text = page([StudyVerdicts("all (paper)", "halfway reproduce drip", "abc", 60.0, found)])
    assert "| all (paper) | `halfway reproduce drip` | 1 min 00 s | – | `abc` |" in text
    lines = [line for line in text.splitlines() if "generally reduced" in line]
    (line,) = [line for line in lines if "`figure-3a`" in line and "ever" in line]
    assert "3 of 3 agree (paper)" in line


def test_a_figure_without_new_results_keeps_its_lines() -> None:
    """Results of other papers and of other figures replace neither verdicts nor their command."""
    old = page([StudyVerdicts("a (paper)", "halfway reproduce drip", "abc", 60.0, rows_of("drip"))])
    some = [row for row in rows_of("drip") if row.figure == "figure-3a"]
    new = StudyVerdicts("b (quick)", "halfway reproduce drip/figure-3a", "def", 9.0, some, 8.0)
    text = with_kept(page([new]), old)
    assert "| b (quick) | `halfway reproduce drip/figure-3a` | 9.0 s | 8.0 s | `def` |" in text
    assert "| a (paper) | `halfway reproduce drip` | 1 min 00 s | – | `abc` |" in text
    assert "took 1 min 00 s on one core" in text
    lines = [line for line in text.splitlines() if "generally reduced" in line]
    for line in lines:
        assert ("(quick)" if "`figure-3a`" in line else "(paper)") in line
    assert with_kept(page([new]), page([])) == page([new])
    assert with_kept(page([]), text) == text


def test_the_page_names_no_folder() -> None:
    assert without_folder("halfway reproduce drip --out /a/b --scale paper") == (
        "halfway reproduce drip --scale paper"
    )
    assert without_folder("halfway reproduce --out='a b'") == "halfway reproduce"


def test_a_claim_is_not_judged_by_other_rows() -> None:
    claim = Claim("§1", "close", "J", ("figure-1",), (), "")
    row = Verdict("p", "figure-1", {}, "m", "close", 1.0, None, None, 2, "", "agrees", "")
    assert claim.is_judged_by(row)
    for field, value in (("figure", "figure-2"), ("published", "near"), ("published", 3.0)):
        other = Verdict(**{**{f: getattr(row, f) for f in row.__struct_fields__}, field: value})
        assert not claim.is_judged_by(other)
    numbers = claim._replace(values=("m",))
    assert not numbers.is_judged_by(row)
    assert not claim._replace(status="M").is_judged_by(row)
