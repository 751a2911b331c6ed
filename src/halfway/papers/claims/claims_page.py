"""The page of all claims: every claim, its judge, and the verdicts of reproduced studies."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import NamedTuple

from halfway.papers.claims.declared import STATUSES, Claim
from halfway.papers.claims.thresholds import THRESHOLDS
from halfway.pipeline.reproduction.figures import Figure, Paper
from halfway.pipeline.reproduction.verdict import NO_VALUE, Verdict
from halfway.report import wording
from halfway.report.verdicts import verdict_wording

_HEAD = """# The claims of the five papers

`tools/claims_page.py` writes this page, so do not edit it by hand. The program reads the declared
claims (`claims.csv` in each paper's folder) and the result folders of `halfway reproduce`. A clause
is a phrase of the paper, quoted as printed. The column *status* has one of four letters:

"""
_THRESHOLDS = """
## The words of the papers

The same word has the same threshold in every paper (`papers/claims/thresholds.py`). A verdict on
the order of two values needs a ratio that differs from 1 by at least 1 %. If the difference is
smaller, the verdict is a trend.

| words | threshold | meaning |
|---|---|---|
"""
_COLUMNS = "section", "clause", "status", "where", "interpretation", "verdicts", "measured", "note"
_MADE = "results", "command", "wall time of the command", "processor time of the runs", "digest"
MADE_HEAD = f"| {' | '.join(_MADE)} |"
MADE = (
    "The verdicts come from these results. If a command was resumed, its wall time covers only the "
    "runs that were missing."
)
NO_RESULTS = "No results are given, so the columns of verdicts are empty."
_MOST_INTERPRETATIONS = 3  # verdict rows of one claim in one figure with separate lines


class StudyVerdicts(NamedTuple):
    """The results of one `halfway reproduce`: its verdicts, its times, and its command."""

    title: str  # figures and scale
    command: str
    digest: str
    seconds: float | None  # seconds of wall time of the command, which may resume earlier ones
    verdicts: Sequence[Verdict]
    processor: float | None = None  # seconds of all its runs

    @property
    def scale(self) -> str:
        """The scale of a study on the page of claims, from the end of its title: quick or paper."""
        return self.title.rpartition("(")[2].rstrip(")")


def claims_page(
    papers: Sequence[Paper],
    declared: Mapping[str, Sequence[Claim]],
    results: Sequence[StudyVerdicts],
) -> str:
    """Return the page of all claims, in Markdown. declared: the claims of each paper by its name.

    If several results have verdicts of one figure, the last one counts.
    """
    newest = {(v.paper, v.figure): study for study in results for v in study.verdicts}
    used = [study for study in results if any(study is last for last in newest.values())]
    verdicts = [v for study in used for v in study.verdicts if newest[v.paper, v.figure] is study]
    meanings = "".join(f"* {status}: {text}.\n" for status, text in STATUSES.items())
    sections = "".join(
        _section(
            paper,
            declared[paper.name],
            [v for v in verdicts if v.paper == paper.name],
            {
                figure: study.scale
                for (owner, figure), study in newest.items()
                if owner == paper.name
            },
        )
        for paper in papers
    )
    return f"{_HEAD}{meanings}\n{_counts(declared)}{_made(used)}{_words()}{sections}"


def judge_name(figure: Figure) -> str:
    """Return the name that the page of claims gives to the judge of a figure, such as
    `claims.judge_figure_6`.
    """
    judge = figure.judge.func if isinstance(figure.judge, partial) else figure.judge
    return f"{judge.__module__.rpartition('.')[2]}.{judge.__name__}"


def _counts(declared: Mapping[str, Sequence[Claim]]) -> str:
    rows = [_row(["paper", "claims", *STATUSES]), _row(["---"] * (2 + len(STATUSES)))]
    for paper, claims in declared.items():
        number = Counter(claim.status for claim in claims)
        rows.append(_row([paper, str(len(claims)), *(str(number[s]) for s in STATUSES)]))
    return "".join(rows)


def _made(results: Sequence[StudyVerdicts]) -> str:
    if not results:
        return f"\n{NO_RESULTS}\n"
    rows = [_row(_MADE), _row(["---"] * len(_MADE))]
    rows += [
        _row([result.title, f"`{result.command}`", _time(result.seconds), _time(result.processor),
              f"`{result.digest[:16]}`"])
        for result in results
    ]  # fmt: skip
    return f"\n{MADE}\n\n{''.join(rows)}"


def _time(seconds: float | None) -> str:
    return NO_VALUE if seconds is None else wording.duration(seconds)


def _words() -> str:
    return _THRESHOLDS + "".join(
        _row([", ".join(f'"{word}"' for word in one.words), f"{one.value:g}", one.meaning])
        for one in THRESHOLDS
    )


def _section(
    paper: Paper, claims: Sequence[Claim], verdicts: Sequence[Verdict], scales: Mapping[str, str]
) -> str:
    lines = [f"\n## {paper.name}: {paper.authors} ({paper.year})\n\n", _row(_COLUMNS)]
    lines.append(_row(["---"] * len(_COLUMNS)))
    for claim in claims:
        for where, interpretation, rows in _parts(claim, verdicts):
            figure = paper.figure(where)
            judged = figure is not None and claim.status == "J"
            place = f"`{where}`: `{judge_name(figure)}`" if judged and figure else _place(where)
            shown = [NO_VALUE] * 2
            if rows:
                shown = [f"{verdict_wording.tally_line(rows)} ({scales[where]})", _measured(rows)]
            cells = [
                claim.section,
                f'"{claim.clause}"',
                claim.status,
                place,
                interpretation,
                *shown,
            ]
            lines.append(_row([*cells, claim.note]))
    return "".join(lines)


def _place(where: str) -> str:
    return f"`{where}`" if where else NO_VALUE


def _parts(claim: Claim, verdicts: Sequence[Verdict]) -> Iterable[tuple[str, str, list[Verdict]]]:
    """Yield the lines of a claim: figure or test, interpretation, and the verdict rows."""
    for where in claim.where or ("",):
        rows = [v for v in verdicts if v.figure == where and claim.is_judged_by(v)]
        interpretations = dict.fromkeys(v.interpretation for v in rows)
        if len(interpretations) > _MOST_INTERPRETATIONS or not rows:
            yield where, f"{len(interpretations)} interpretations" if rows else NO_VALUE, rows
            continue
        for interpretation in interpretations:
            yield where, interpretation, [v for v in rows if v.interpretation == interpretation]


def _measured(rows: Sequence[Verdict]) -> str:
    """Return the measured value on the page of claims, with its interval; for several rows, the
    least and the greatest value.
    """
    values = [v.measured for v in rows if v.measured is not None]
    if not values:
        return NO_VALUE
    if len(rows) == 1:
        interval = wording.interval(rows[0])
        return wording.number(values[0]) + ("" if interval == NO_VALUE else f" [{interval}]")
    ends = f"{wording.number(min(values))} … {wording.number(max(values))}"
    lows = [v.low for v in rows if v.low is not None]
    highs = [v.high for v in rows if v.high is not None]
    if not lows or not highs:
        return ends
    return f"{ends}, in [{wording.number(min(lows))}, {wording.number(max(highs))}]"


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |\n"
