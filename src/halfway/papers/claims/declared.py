"""The declared claims of a paper: each clause, and the figure that judges it or the test that
checks it.
"""

import csv
from pathlib import Path
from typing import Literal, NamedTuple

from halfway.pipeline.reproduction.verdict import Verdict

Status = Literal["J", "I", "D", "M"]
STATUSES: dict[Status, str] = {
    "J": "judged by a verdict",
    "I": "implemented and tested",
    "D": "different from the paper",
    "M": "not implemented",
}


class Claim(NamedTuple):
    """A claim of a paper: a clause as printed, and the figure or the test that examines it."""

    section: str
    clause: str
    status: Status
    where: tuple[str, ...]  # J: figures; I: a test (file::name) or a drawn figure
    values: tuple[str, ...]  # metrics of printed numbers; empty: verdict rows with the clause
    note: str

    def is_judged_by(self, verdict: Verdict) -> bool:
        """Return whether a verdict row of the paper is about this declared claim."""
        if self.status != "J" or verdict.figure not in self.where:
            return False
        if self.values:
            return isinstance(verdict.published, float | int) and verdict.metric in self.values
        return verdict.published == self.clause


def claims(paper: str) -> list[Claim]:
    """Return the claims that `claims.csv` in the folder of a paper of that name declares.

    Raises ValueError for a status that does not exist.
    """
    folder = Path(__file__).parents[1] / paper.replace("-", "_")
    with (folder / "claims.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return [_claim(row) for row in rows]


def _claim(row: dict[str, str]) -> Claim:
    (status,) = [one for one in STATUSES if one == row["status"]]
    values = tuple(filter(None, row["values"].split("|")))
    return Claim(
        row["section"], row["clause"], status, tuple(row["where"].split()), values, row["note"]
    )
