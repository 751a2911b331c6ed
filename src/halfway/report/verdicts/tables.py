"""Verdicts and summaries as CSV and JSON lines, for other programs."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from halfway.files import write_whole
from halfway.pipeline.study import Summary
from halfway.pipeline.verdict import Verdict

VERDICT_FIELDS = Verdict.__struct_fields__
# Without the bootstrap replicates, which are hundreds of numbers per row.
SUMMARY_FIELDS = tuple(
    name for name in Summary.__struct_fields__ if name not in ("boot_mean", "boot_median")
)


def verdict_json(verdict: Verdict) -> str:
    """One verdict as a JSON object on one line; values that are not finite become null."""
    return msgspec.json.encode(verdict).decode()


def verdicts_jsonl(verdicts: Iterable[Verdict]) -> str:
    """One JSON object per line."""
    return "".join(f"{verdict_json(verdict)}\n" for verdict in verdicts)


def verdicts_csv(verdicts: Iterable[Verdict]) -> str:
    """The fields of Verdict with a header; `cell` is a JSON object, null is empty."""
    return _csv(VERDICT_FIELDS, verdicts)


def summaries_csv(summaries: Iterable[Summary]) -> str:
    """The fields of Summary with a header; `parameters` is a JSON object. No bootstrap arrays."""
    return _csv(SUMMARY_FIELDS, summaries)


def write_tables(
    folder: Path, verdicts: Sequence[Verdict], summaries: Sequence[Summary]
) -> tuple[Path, ...]:
    """Write verdicts.csv, verdicts.jsonl and summaries.csv to `folder`; returns their paths.

    Raises Problem if one cannot be written; an existing file of that name is then unchanged.
    """
    contents = {
        "verdicts.csv": verdicts_csv(verdicts),
        "verdicts.jsonl": verdicts_jsonl(verdicts),
        "summaries.csv": summaries_csv(summaries),
    }
    for name, content in contents.items():
        write_whole(folder / name, content)
    return tuple(folder / name for name in contents)


def _csv(fields: Sequence[str], rows: Iterable[msgspec.Struct]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows([_plain(getattr(row, name)) for name in fields] for row in rows)
    return text.getvalue()


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return value
