"""The reader of the tables of published values in each paper's folder."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from halfway.pipeline.plan.run import Scalar


@dataclass(frozen=True)
class Published:
    """A published value: its cell of the figure, its metric, the number, and its rounding error."""

    cell: dict[str, Scalar]
    metric: str
    value: float
    rounding: float


def published(path: Path) -> Iterator[Published]:
    """Yield the published values of a table in a CSV file.

    The columns metric, published and rounding have the value, and all other columns identify its
    cell. A line that begins with # is a comment.
    """
    with path.open(newline="") as file:
        lines = (line for line in file if not line.startswith("#"))
        for row in csv.DictReader(lines):
            value, rounding = float(row.pop("published")), float(row.pop("rounding"))
            metric = row.pop("metric")
            yield Published(
                {key: _scalar(text) for key, text in row.items()}, metric, value, rounding
            )


def _scalar(text: str) -> Scalar:
    return int(text) if text.lstrip("-").isdigit() else text
