"""The writer of a run's trace, a Parquet file of receptions, reports and changes."""

import json
import os
import stat
import weakref
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from halfway.core.message import RECORD
from halfway.core.records.trace_columns import schema, table_of, what_of
from halfway.core.values.digest import state_digest
from halfway.problem import Problem
from halfway.sim.engine.changes import Changes, other_ends
from halfway.sim.metrics.outcome import RunId

_PARQUET = b"PAR1"  # the first bytes of a Parquet file


def check_target(path: Path) -> None:
    """Check the file to which a trace writer will write. Raises Problem for an existing file that
    is no trace.
    """
    try:
        mode = path.lstat().st_mode
        begins = b""
        if stat.S_ISREG(mode):  # opening a fifo would block
            with path.open("rb") as file:
                begins = file.read(len(_PARQUET))
    except FileNotFoundError:
        if path.parent.is_dir():
            return
        what = "cannot write a trace: no such directory"
        raise Problem(what, where=str(path), remedy="create the directory first") from None
    except OSError as error:
        raise _unwritable(path, error) from None
    if stat.S_ISDIR(mode):
        raise Problem("this is a directory: expected a file for the trace", where=str(path))
    if begins != _PARQUET:
        what = "the file exists and is not a Parquet file, so a trace must not replace it"
        raise Problem(what, where=str(path), remedy="remove the file, or choose another file")


class Trace:
    """The writer of a trace, with one batch in memory; `close` completes the file.

    kinds: names of the record kinds by number. names: [n] the user's names of the nodes. The
    method `abandon` drops the file so far. An error in a call, and the end of a program without
    `close`, drop the file as well. Raises Problem with the path where the file cannot be written.
    """

    def __init__(self, path: Path, kinds: Mapping[int, str], names: Sequence[str]) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        check_target(path)
        self.path = path
        self._kinds = [kinds.get(kind, f"kind {kind}") for kind in range(256)]
        self._names = pa.array(names, pa.string())
        self._changes: Changes | None = None
        self._written = 0  # number of these changes in the file
        # An earlier trace stays until the new one is complete.
        self._partial, stream = _beside(path)
        self._file = parquet.ParquetWriter(stream, schema(), compression="zstd")
        self._stream = stream
        self._discard = weakref.finalize(self, _discarded, self._file, stream, self._partial)

    def write(
        self,
        received: npt.NDArray[np.void],
        receivers: npt.NDArray[np.int64],
        reported: npt.NDArray[np.void],
        owners: npt.NDArray[np.int64],
        changes: Changes,
    ) -> None:
        """Write the records received and reported since the last call into the trace file, and the
        changes.
        """
        if changes is not self._changes:
            self._changes, self._written = changes, 0
        now = int(changes.tally[0])
        changed = np.zeros(now - self._written, RECORD)
        changed["at"] = changes.t[self._written : now]
        changed["source"] = other_ends(changes)[self._written : now]
        rows = changes.a[self._written : now].astype(np.int64)
        what = np.concatenate(
            (
                what_of(changes.kind[self._written : now]),
                np.zeros(len(received), np.uint8),
                np.ones(len(reported), np.uint8),
            )
        )
        self._written = now
        records = np.concatenate((changed, received, reported))
        row = np.concatenate((rows, receivers, owners))
        # A stable sort: at one time changes come first, and reports after receptions.
        order = np.argsort(records["at"], kind="stable")
        if len(order):
            table = table_of(what[order], row[order], records[order], self._kinds, self._names)
            try:
                self._file.write_table(table)
            except OSError as error:
                self.abandon()
                raise _unwritable(self.path, error) from None

    def close(self, run: RunId, state: Any) -> None:
        """Complete the written trace file; its metadata have the run and the digest of its final
        state.

        A second entry has the nodes' names, by row.
        """
        about = run._asdict() | {"state": state_digest(state)}
        metadata = {"halfway": about, "halfway.nodes": self._names.to_pylist()}
        try:
            self._file.add_key_value_metadata({k: json.dumps(v) for k, v in metadata.items()})
            self._file.close()
            self._stream.close()
            check_target(self.path)  # another file may have appeared during the run
            self._partial.replace(self.path)
        except OSError as error:
            raise _unwritable(self.path, error) from None
        finally:
            self.abandon()

    def abandon(self) -> None:
        """Delete the incomplete file of a trace writer; no effect after `close`, or a second
        time.
        """
        self._discard()


def _beside(path: Path) -> tuple[Path, BinaryIO]:
    """Open a new file for the trace writer next to the target, under a unique name."""
    for number in range(1000):
        partial = path.with_name(f"{path.name}.{os.getpid()}-{number}.partial")
        try:
            return partial, partial.open("xb")
        except FileExistsError:
            continue
        except OSError as error:
            raise _unwritable(path, error) from None
    raise Problem(
        "too many unfinished traces in the folder of this trace",
        where=str(path),
        remedy="remove the unfinished traces",
    )


def _discarded(writer: Any, stream: BinaryIO, partial: Path) -> None:
    with suppress(Exception):  # the file is removed anyway
        writer.close()
    with suppress(OSError):
        stream.close()
    with suppress(OSError):
        partial.unlink()


def _unwritable(path: Path, error: OSError) -> Problem:
    reason = (error.strerror or str(error)).lower()
    return Problem(f"cannot write a trace: {reason}", where=str(path))
