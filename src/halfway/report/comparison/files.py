"""The results of a comparison as files: CSV, JSON lines and JSON."""

from pathlib import Path

import msgspec

from halfway.comparison.evaluation import timelines
from halfway.comparison.evaluation.results import COLUMNS, STUDY, Results
from halfway.report.output_files import csv_text, write_all


def cells_csv(results: Results) -> str:
    """A comparison's cells as CSV: `STUDY`, swept fields, `COLUMNS`; missing values are empty."""
    return csv_text([*STUDY, *results.points[0], *COLUMNS], results.rows())


def cells_jsonl(results: Results) -> str:
    """A comparison's cells as JSON lines, one object a cell; missing values are null."""
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in results.rows())


def decisions_jsonl(results: Results) -> str:
    """A comparison's decisions as JSON lines: `STUDY`, swept fields, `decision` for each point."""
    study = results.study_columns()
    rows = ({**study, **results.points[one.point], "decision": one} for one in results.decisions)
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in rows)


def timelines_csv(results: Results) -> str:
    """A comparison's metrics over time as CSV, one line a bin; missing values are empty."""
    return csv_text([*results.points[0], *timelines.COLUMNS], timelines.timeline_rows(results))


def write_results(folder: Path, results: Results) -> tuple[Path, ...]:
    """Write a comparison's .csv, .jsonl and .json (all of `Results`), and the metrics over time.

    Raises Problem if a file cannot be written; an existing file of that name then stays as it was.
    """
    return write_all(folder, {
        "comparison.csv": cells_csv(results),
        "comparison-over-time.csv": timelines_csv(results),
        "comparison.jsonl": cells_jsonl(results),
        "comparison.json": msgspec.json.encode(results).decode() + "\n",
    })  # fmt: skip
