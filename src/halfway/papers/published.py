"""Reads the tables of printed values that lie beside each paper's declarations."""

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from halfway.pipeline.plan.run import Scalar


@dataclass(frozen=True)
class Published:
    """One printed number: the cell it stands in, what it is, and by how much it was rounded."""

    cell: dict[str, Scalar]
    metric: str
    value: float
    rounding: float


def published(path: Path) -> Iterator[Published]:
    """The rows of a table; all columns but the last three are the cell. `#`: how it was read."""
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
