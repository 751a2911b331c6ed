"""The lines that a new page of claims takes from an earlier page, for figures without new results.

Such a line keeps its verdicts, and its row of results keeps command, times and digest.
"""

import re
from collections import defaultdict
from collections.abc import Iterator

from halfway.papers.claims.claims_page import MADE, MADE_HEAD, NO_RESULTS
from halfway.pipeline.reproduction.verdict import NO_VALUE
from halfway.report.wording import duration

_BAR = " | "
_STATUS, _WHERE, _INTERPRETATION, _VERDICTS, _NOTE = 2, 3, 4, 5, 7  # cells of a claim's line
_CELLS = 8
_TITLE, _COMMAND, _WALL, _PROCESSOR = range(4)  # cells of a row of results
_UNITS_S = {"h": 3600, "min": 60, "s": 1}

ClaimLine = tuple[str, ...]  # paper, section, clause, figure


def with_kept(new: str, old: str) -> str:
    """Return a new page of claims that keeps the old lines of claims without new results. The table
    of results keeps their rows as well, and the total time counts them.
    """
    before: dict[ClaimLine, list[list[str]]] = defaultdict(list)
    for key, cells in _claims(old):
        before[key].append(cells)
    lines, kept = [], set[tuple[str, str, str]]()
    known = iter([*_claims(new)])
    for line in new.splitlines():
        if not _is_claim(line):
            lines.append(line)
            continue
        key, cells = next(known)
        stay = before[key] if cells[_STATUS] == "J" and cells[_VERDICTS] == NO_VALUE else []
        lines += [
            _line([*cells[:_INTERPRETATION], *earlier[_INTERPRETATION:_NOTE], cells[_NOTE]])
            for earlier in stay
        ]
        lines += [] if stay else [line]
        scales = [earlier[_VERDICTS].rpartition("(")[2].rstrip(")") for earlier in stay]
        kept |= {(key[0], key[-1], scale) for scale in scales if scale != NO_VALUE}
    papers = {key[0] for key, _ in _claims(new)}
    rows = [row for row in _table(old.splitlines()) if row not in _table(lines)]
    used = {_row_of(rows, papers, *place) for place in kept}
    return "\n".join(_results(lines, [row for row in rows if row in used])) + "\n"


def _results(lines: list[str], rows: list[str]) -> list[str]:
    """Return the lines of a claims page with additional rows of results, and the time of these rows
    at paper scale.
    """
    if rows and NO_RESULTS in lines:
        at = lines.index(NO_RESULTS)
        lines = [*lines[:at], MADE, "", MADE_HEAD, _line(["---"] * 5), *lines[at + 1 :]]
    if MADE not in lines:
        return lines
    at = lines.index(MADE_HEAD) + 2
    lines = [*lines[:at], *rows, *lines[at:]]
    end = at + len(_table(lines))
    times = [_cells(row) for row in lines[at:end] if _cells(row)[_TITLE].endswith("(paper)")]
    spent = sum(
        _seconds(row[_WALL if row[_PROCESSOR] == NO_VALUE else _PROCESSOR]) for row in times
    )
    if not spent:
        return lines
    said = (
        f"All results at paper scale took {duration(spent)} on one core, so two cores need about "
        f"{duration(spent / 2)}. This sum has the processor time of each result. Results without a "
        "processor time count with their wall time on one core."
    )
    return [*lines[:end], "", said, *lines[end:]]


def _seconds(text: str) -> float:
    found = re.findall(r"([\d.]+) (h|min|s)\b", text)
    return sum(float(number) * _UNITS_S[unit] for number, unit in found)


def _row_of(rows: list[str], papers: set[str], paper: str, figure: str, scale: str) -> str:
    """Return the last row of results for a figure at a scale, or an empty row."""
    found = ""
    for row in rows:
        words = _cells(row)[_COMMAND].strip("`").split()
        named = {word for word in words if word.partition("/")[0] in papers}
        if _cells(row)[_TITLE].endswith(f"({scale})") and (
            not named or named & {paper, f"{paper}/{figure}"}
        ):
            found = row
    return found


def _table(lines: list[str]) -> list[str]:
    """Return the rows of a page's table of results."""
    if MADE_HEAD not in lines:
        return []
    begin = lines.index(MADE_HEAD) + 2
    return lines[begin : lines.index("", begin)]


def _claims(text: str) -> Iterator[tuple[ClaimLine, list[str]]]:
    """Yield the claims of a page: paper, section, clause and figure, and the cells of the line."""
    paper = ""
    for line in text.splitlines():
        if line.startswith("## "):
            paper = line[3:].partition(":")[0]
        elif _is_claim(line):
            cells = _cells(line)
            yield (paper, cells[0], cells[1], cells[_WHERE].partition(":")[0].strip("`")), cells


def _is_claim(line: str) -> bool:
    return line.count(_BAR) == _CELLS - 1 and not line.startswith(("| section", "| ---"))


def _cells(line: str) -> list[str]:
    return line.removeprefix("| ").removesuffix(" |").split(_BAR)


def _line(cells: list[str]) -> str:
    return f"| {_BAR.join(cells)} |"
