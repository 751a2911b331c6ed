"""Everything that happened in a run, as Parquet rows; `replay.py` plays them again."""

import json
import os
import stat
import weakref
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from halfway.core.message import MESSAGE
from halfway.problem import Problem
from halfway.sim.engine.changes import Changes
from halfway.sim.metrics.summary import state_digest

if TYPE_CHECKING:
    from halfway.sim.simulation import Simulation

# What a row tells: a record that a node heard, or was told to its application; or a change.
_CHANGES = ("node down", "node up", "link down", "link up", "link gone", "link near",
            "forgotten", "known")  # fmt: skip
WHAT = ("heard", "told", *_CHANGES)
PLAIN = ("at", "kind", "flags", "hops", "source", "target", "next", "topic", "event",
         "publisher", "sequence", "incarnation")  # fmt: skip


_PARQUET = b"PAR1"  # what a Parquet file begins with


def checked_target(path: Path) -> None:
    """Nothing may be there yet but a Parquet file; Problem for anything that would be lost."""
    try:
        mode = path.lstat().st_mode
        begins = b""
        if stat.S_ISREG(mode):  # a fifo would wait for ever
            with path.open("rb") as file:
                begins = file.read(len(_PARQUET))
    except FileNotFoundError:
        if path.parent.is_dir():
            return
        raise Problem("cannot write a trace: no such directory", where=str(path)) from None
    except OSError as error:
        raise _unwritable(path, error) from None
    if stat.S_ISDIR(mode):
        raise Problem("this is a directory; a trace is a file", where=str(path))
    if begins != _PARQUET:
        what = "a trace would replace it, and it is no Parquet file"
        raise Problem(what, where=str(path), remedy="remove it, or name another file")


class Trace:
    """Writes a run's trace; memory holds one batch. The file is whole once `close` is called.

    `abandon` drops what was written so far, and so does an error in a call or the end of a program
    that never closed it. Raises Problem naming the file for whatever stands in the way.
    """

    def __init__(self, path: Path, run: "Simulation") -> None:
        from pyarrow import parquet

        checked_target(path)
        self.path = path
        self._kinds = [run.instance.kinds.names.get(kind, f"kind {kind}") for kind in range(256)]
        self._happened: Changes | None = None
        self._seen = 0
        # Nothing that was there is lost before the new trace is whole.
        self._partial, stream = _beside(path)
        self._file = parquet.ParquetWriter(stream, _schema(), compression="zstd")
        self._stream = stream
        self._sweep = weakref.finalize(self, _swept, self._file, stream, self._partial)

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
            table = _table(what[order], row[order], records[order], self._kinds)
            try:
                self._file.write_table(table)
            except OSError as error:
                self.abandon()
                raise _unwritable(self.path, error) from None

    def close(self, run: "Simulation") -> None:
        """Finish the file: who made it goes into its metadata."""
        about = {
            "system": run.system,
            "seed": run.seed,
            "seconds": run.seconds,
            "nodes": run.environment.n,
            "state": state_digest(run.instance.state),
        }
        try:
            self._file.add_key_value_metadata({"halfway": json.dumps(about)})
            self._file.close()
            self._stream.close()
            checked_target(self.path)  # a long run later, something else may be there
            self._partial.replace(self.path)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Drop what is not whole yet; nothing to do after `close`, or a second time."""
        self._sweep()


def _beside(path: Path) -> tuple[Path, BinaryIO]:
    """A new file next to the target, whose name nobody else has."""
    for number in range(1000):
        partial = path.with_name(f"{path.name}.{os.getpid()}-{number}.partial")
        try:
            return partial, partial.open("xb")
        except FileExistsError:
            continue
        except OSError as error:
            raise _unwritable(path, error) from None
    raise Problem("too many unfinished traces lie beside it", where=str(path))


def _swept(writer: Any, stream: BinaryIO, partial: Path) -> None:
    with suppress(Exception):  # its last words have nowhere to go
        writer.close()
    with suppress(OSError):
        stream.close()
    with suppress(OSError):
        partial.unlink()


def _unwritable(path: Path, error: OSError) -> Problem:
    reason = (error.strerror or str(error)).lower()
    return Problem(f"cannot write a trace: {reason}", where=str(path))


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
            ("publisher", pa.int32()),
            ("sequence", pa.int32()),
            ("incarnation", pa.uint64()),
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
