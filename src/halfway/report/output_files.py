"""Output files of tables, and the text of a CSV file."""

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from halfway.files import write_whole


def write_all(folder: Path, contents: Mapping[str, str]) -> tuple[Path, ...]:
    """Write output files, name -> content, to `folder`; return their paths."""
    for name, content in contents.items():
        write_whole(folder / name, content)
    return tuple(folder / name for name in contents)


def csv_text(fields: Sequence[str], rows: Iterable[Mapping[str, object]]) -> str:
    """Return the CSV text of an output file with a header; dicts become JSON, and None, NaN and
    infinity are empty.
    """
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
