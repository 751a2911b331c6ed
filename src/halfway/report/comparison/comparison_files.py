"""The results of a comparison as files: CSV, JSON lines and JSON."""

import json
import math
from pathlib import Path
from typing import Any

import msgspec

from halfway.comparison.evaluation import timelines
from halfway.comparison.evaluation.comparison_results import COLUMNS, STUDY, Results
from halfway.problem import Problem
from halfway.report.output_files import csv_text, write_all


def cells_csv(results: Results) -> str:
    """Return the CSV file of a comparison's cells as text: `STUDY`, swept fields, `COLUMNS`;
    missing values are empty.
    """
    return csv_text([*STUDY, *results.points[0], *COLUMNS], results.rows())


def cells_jsonl(results: Results) -> str:
    """Return the JSON-lines file of a comparison's cells as text, one object for each cell; missing
    values are null.
    """
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in results.rows())


def decisions_jsonl(results: Results) -> str:
    """Return the JSON-lines file of a comparison's decisions as text: `STUDY`, swept fields,
    `decision` for each point.
    """
    study = results.study_columns()
    rows = ({**study, **results.points[one.point], "decision": one} for one in results.decisions)
    return "".join(f"{msgspec.json.encode(row).decode()}\n" for row in rows)


def timelines_csv(results: Results) -> str:
    """Return the CSV file of a comparison's metrics over time as text, one line for each bin;
    missing values are empty.
    """
    return csv_text([*results.points[0], *timelines.COLUMNS], timelines.timeline_rows(results))


def write_results(folder: Path, results: Results) -> tuple[Path, ...]:
    """Write the results of a comparison as files .csv, .jsonl and .json (all of `Results`), and the
    metrics over time.

    Raises Problem if a file cannot be written; an existing file of that name then stays as it was.
    """
    return write_all(
        folder,
        {
            "comparison.csv": cells_csv(results),
            "comparison-over-time.csv": timelines_csv(results),
            "comparison.jsonl": cells_jsonl(results),
            "comparison.json": msgspec.json.encode(results).decode() + "\n",
        },
    )


def read_results(folder: Path) -> Results:
    """Read the results of a comparison from the file comparison.json in the folder of its study.

    Raises Problem if the folder has none, or if another version wrote it.
    """
    file = folder / "comparison.json"
    try:
        return msgspec.convert(_with_nan(json.loads(file.read_text("utf-8"))), Results)
    except FileNotFoundError:
        remedy = "name the folder of a study, such as halfway-comparison/mesh"
        raise Problem(
            "no comparison.json in this folder", where=str(folder), remedy=remedy
        ) from None
    except ValueError:
        what = "expected the results of a comparison"
        remedy = "repeat `halfway compare` with this version"
        raise Problem(what, where=str(file), remedy=remedy) from None


_MEAN = {"value", "low", "high"}


def _with_nan(value: Any) -> Any:
    """Return the data of a comparison's JSON, with nan where a number is null."""
    if isinstance(value, dict):
        if value.keys() == _MEAN:
            return {name: math.nan if part is None else part for name, part in value.items()}
        return {name: _with_nan(part) for name, part in value.items()}
    if isinstance(value, list):
        if all(part is None or isinstance(part, int | float) for part in value):
            return [math.nan if part is None else part for part in value]
        return [_with_nan(part) for part in value]
    return value
