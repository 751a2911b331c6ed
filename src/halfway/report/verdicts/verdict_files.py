"""Verdicts and summaries as CSV and JSON lines, for other programs."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import asdict

from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.summary import Summary
from halfway.report.output_files import csv_text, write_all

# The bootstrap replicates are left out: they are hundreds of numbers per row.
_SUMMARY_FIELDS = tuple(
    name for name in Summary.__struct_fields__ if name not in ("boot_mean", "boot_median")
)


def verdict_json(verdict: Verdict) -> str:
    """Return one verdict as a JSON object on one line; values that are not finite become null."""
    return msgspec.json.encode(verdict).decode()


def verdicts_jsonl(verdicts: Iterable[Verdict]) -> str:
    """Return verdicts as JSON lines, one object per verdict."""
    return "".join(f"{verdict_json(verdict)}\n" for verdict in verdicts)


def verdicts_csv(verdicts: Iterable[Verdict]) -> str:
    """Return verdicts as CSV, with a header of their columns; "cell" is a JSON object."""
    return csv_text(Verdict.__struct_encode_fields__, map(msgspec.to_builtins, verdicts))


def summaries_csv(summaries: Iterable[Summary]) -> str:
    """Return summaries as CSV, with a header of their fields but the bootstrap arrays.

    The field "parameters" is a JSON object.
    """
    return csv_text(_SUMMARY_FIELDS, map(asdict, summaries))


def write_tables(
    folder: Path, verdicts: Sequence[Verdict], summaries: Sequence[Summary]
) -> tuple[Path, ...]:
    """Write the tables verdicts.csv, verdicts.jsonl, summaries.csv to `folder`; returns paths.

    Raises Problem if one cannot be written; an existing file of that name is then unchanged.
    """
    return write_all(
        folder,
        {
            "verdicts.csv": verdicts_csv(verdicts),
            "verdicts.jsonl": verdicts_jsonl(verdicts),
            "summaries.csv": summaries_csv(summaries),
        },
    )
