"""Everything that happened in a run, as Parquet rows; `replay.py` plays them again."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from halfway.core.message import MESSAGE
from halfway.problem import Problem
from halfway.sim.changes import Changes
from halfway.sim.summary import state_digest

if TYPE_CHECKING:
    from halfway.sim.simulation import Simulation

# What a row tells: a record that a node heard, or was told to its application; or a change.
_CHANGES = ("node down", "node up", "link down", "link up", "link gone", "link near",
            "forgotten", "known")  # fmt: skip
WHAT = ("heard", "told", *_CHANGES)
PLAIN = ("at", "kind", "flags", "hops", "source", "target", "next", "topic", "event")


class Trace:
    """Writes a run's trace; memory holds one batch. The file is whole once `close` is called."""

    def __init__(self, path: Path, run: "Simulation") -> None:
        from pyarrow import parquet

        self.path = path
        # Nothing that was there is lost before the new trace is whole.
        self._partial = path.with_name(path.name + ".partial")
        self._kinds = [run.cast.kinds.get(kind, f"kind {kind}") for kind in range(256)]
        self._happened: Changes | None = None
        self._seen = 0
        try:
            self._file = parquet.ParquetWriter(self._partial, _schema(), compression="zstd")
        except OSError as error:
            raise Problem(f"cannot write a trace: {error.strerror}", where=str(path)) from None

    def write(
        self, heard: npt.NDArray[np.void], heard_by: npt.NDArray[np.int64],
        told: npt.NDArray[np.void], told_to: npt.NDArray[np.int64], happened: Changes,
    ) -> None:  # fmt: skip
        """Add what happened since the last call, in order of time."""
        if happened is not self._happened:
            self._happened, self._seen = happened, 0
        now = int(happened.tally[0])
        changed = np.zeros(now - self._seen, MESSAGE)
        changed["at"] = happened.t[self._seen : now]
        changed["source"] = happened.b[self._seen : now]
        rows = happened.a[self._seen : now].astype(np.int64)
        what = np.concatenate((
            happened.kind[self._seen : now] + 2,
            np.zeros(len(heard), np.uint8), np.ones(len(told), np.uint8),
        ))  # fmt: skip
        self._seen = now
        records = np.concatenate((changed, heard, told))
        row = np.concatenate((rows, heard_by, told_to))
        # Stable: at one time the world changes first, and what was told comes after what was heard.
        order = np.argsort(records["at"], kind="stable")
        if len(order):
            self._file.write_table(_table(what[order], row[order], records[order], self._kinds))

    def close(self, run: "Simulation") -> None:
        """Finish the file: who made it goes into its metadata."""
        about = {
            "system": run.system,
            "seed": run.seed,
            "seconds": run.seconds,
            "nodes": run.setting.n,
            "state": state_digest(run.cast.state),
        }
        self._file.add_key_value_metadata({"halfway": json.dumps(about)})
        self._file.close()
        self._partial.replace(self.path)


def _schema() -> Any:
    import pyarrow as pa

    words = pa.dictionary(pa.int8(), pa.string())
    return pa.schema(
        [
            ("at", pa.float64()),  # seconds
            ("what", words),  # heard, told, or how the world changed
            ("row", pa.int32()),  # who heard it, whose application was told, who changed
            ("name", pa.dictionary(pa.int16(), pa.string())),  # of the kind
            ("kind", pa.uint8()),
            ("flags", pa.uint8()),
            ("hops", pa.uint16()),
            ("source", pa.int32()),  # who sent it; the other end of a link that changed
            ("target", pa.int32()),
            ("next", pa.int32()),
            ("topic", pa.int32()),
            ("event", pa.int32()),
            ("args", pa.list_(pa.int32(), 8)),
            ("reals", pa.list_(pa.float64(), 6)),
        ]
    )


def _table(
    what: npt.NDArray[np.uint8], row: npt.NDArray[np.int64], records: npt.NDArray[np.void],
    kinds: list[str],
) -> Any:  # fmt: skip
    import pyarrow as pa

    named = records["kind"].astype(np.int16)
    plain = {name: pa.array(np.ascontiguousarray(records[name])) for name in PLAIN}
    columns = {
        **plain,
        "what": pa.DictionaryArray.from_arrays(pa.array(what.astype(np.int8)), list(WHAT)),
        "row": pa.array(row.astype(np.int32)),
        "name": pa.DictionaryArray.from_arrays(pa.array(named, mask=what > 1), kinds),
    }
    for name, width in (("args", 8), ("reals", 6)):
        flat = pa.array(np.ascontiguousarray(records[name]).ravel())
        columns[name] = pa.FixedSizeListArray.from_arrays(flat, width)
    schema = _schema()
    return pa.table([columns[name] for name in schema.names], schema=schema)
