"""Verdicts and summaries as CSV and JSON lines, for other programs."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import asdict

from halfway.files import write_whole
from halfway.pipeline.study import Summary
from halfway.pipeline.verdict import Verdict

# Without the bootstrap replicates, which are hundreds of numbers per row.
_SUMMARY_FIELDS = tuple(
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
    return csv_text(Verdict.__struct_fields__, map(asdict, verdicts))


def summaries_csv(summaries: Iterable[Summary]) -> str:
    """The fields of Summary with a header; `parameters` is a JSON object. No bootstrap arrays."""
    return csv_text(_SUMMARY_FIELDS, map(asdict, summaries))


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
    return write_all(folder, contents)


def write_all(folder: Path, contents: Mapping[str, str]) -> tuple[Path, ...]:
    """Write files, name -> content, to `folder`; returns their paths."""
    for name, content in contents.items():
        write_whole(folder / name, content)
    return tuple(folder / name for name in contents)


def csv_text(fields: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """CSV of these fields, with a header: dicts as JSON; None, NaN and infinity are empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(fields)
    writer.writerows([_plain(row[name]) for name in fields] for row in rows)
    return text.getvalue()


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return ""
    return value
