"""Print the decision and the table of a comparison as Markdown, as in README.md.

    python tools/results_table.py halfway-comparison/sensor-field [METRIC ...]

README.md has the output for `halfway compare examples/scenarios/sensor-field.toml`.
"""

import csv
import json
import math
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from halfway.comparison.evaluation.comparison_results import MeanInterval
from halfway.comparison.evaluation.metrics import METRICS

COLUMNS = (
    "delivery-ratio", "latency-p50", "stretch", "messages-per-notification", "energy",
    "max-node-load", "set-up-messages",
)  # fmt: skip


def main() -> int:
    """Print the decision and the table of the comparison in a folder."""
    if len(sys.argv) < 2:
        sys.stderr.write(f"{__doc__}\n")
        return 2
    study = Path(sys.argv[1])
    results = json.loads((study / "comparison.json").read_text("utf-8"))
    with (study / "comparison.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    sys.stdout.write(f"> {results['decisions'][0]['sentence']}\n\n")
    sys.stdout.writelines(f"{line}\n" for line in table(rows, sys.argv[2:] or COLUMNS))
    return 0


def table(rows: Sequence[dict[str, str]], columns: Sequence[str] = COLUMNS) -> Iterator[str]:
    """Yield the lines of the Markdown table of a comparison's rows; a star marks the best."""
    headings = {metric.name: metric.heading for metric in METRICS}
    yield _line(["system", *(headings[name] for name in columns)])
    yield "|" + "---|" * (len(columns) + 1)
    cells = {(row["system"], row["metric"]): row for row in rows}
    for system in dict.fromkeys(row["system"] for row in rows):
        yield _line([system, *(_text(cells[system, name]) for name in columns)])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _text(row: dict[str, str]) -> str:
    """Return a cell of a comparison's Markdown table."""
    mean, low, high = (float(row[name] or math.nan) for name in ("mean", "low", "high"))
    text = MeanInterval(mean, low, high).text.removesuffix(" ± 0")
    return f"**{text}** ★" if row["best"].lower() in ("true", "1") else text


if __name__ == "__main__":
    sys.exit(main())
