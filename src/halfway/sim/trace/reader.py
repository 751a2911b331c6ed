"""The reader of a run's trace file: its number of rows."""

from pathlib import Path


def rows_of(path: Path) -> int:
    """Read the number of rows in a complete trace file."""
    from pyarrow import parquet

    return int(parquet.read_metadata(path).num_rows)
