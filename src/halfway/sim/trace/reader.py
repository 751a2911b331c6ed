"""The reader of a run's trace file: its metadata, its received records and its number of rows."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.message import RECORD
from halfway.core.records.trace_columns import PLAIN
from halfway.files import check_regular
from halfway.problem import Problem
from halfway.sim.metrics.outcome import RunId


def rows_of(path: Path) -> int:
    """Read the number of rows in a complete trace file."""
    from pyarrow import parquet

    return int(parquet.read_metadata(path).num_rows)


def opened(path: Path, run: RunId) -> tuple[Any, str]:
    """Open the reader of a trace file; return the Parquet file, and the digest of the final state
    in its metadata.

    Raises Problem for a file that is not a trace, or is the trace of another run.
    """
    from pyarrow import ArrowInvalid, parquet

    check_regular(path)
    try:
        file = parquet.ParquetFile(path)
        about = json.loads(file.metadata.metadata[b"halfway"])
    except (ArrowInvalid, KeyError, TypeError):
        raise Problem("expected the trace of a run", where=str(path)) from None
    for name, value in run._asdict().items():
        if about[name] != value:
            what = f"the trace was made with {name} = {about[name]}, not {value}"
            remedy = "give the scenario and the options of the trace"
            raise Problem(what, where=str(path), remedy=remedy)
    return file, str(about["state"])


def received_records(batch: Any) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
    """Read the received records in a batch of a trace file; return them and their rows."""
    words = batch["what"].dictionary.to_pylist()
    which = np.flatnonzero(batch["what"].indices.to_numpy() == words.index("received"))
    records = np.zeros(len(which), RECORD)
    for name in PLAIN:
        records[name] = batch[name].to_numpy()[which]
    for name, width in (("args", 8), ("reals", 6)):
        records[name] = batch[name].flatten().to_numpy().reshape(-1, width)[which]
    return records, batch["row"].to_numpy()[which].astype(np.int64)
