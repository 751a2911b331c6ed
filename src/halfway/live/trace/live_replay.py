"""The replay of a live trace: the same records, given to the same handler, give the same state."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.message import RECORD
from halfway.core.records.trace_columns import PLAIN
from halfway.core.values.digest import arrays, state_digest
from halfway.files import check_regular
from halfway.live.limits import Limits
from halfway.live.link.neighbour_table import HelloTable
from halfway.live.step.node_stepper import Stepper
from halfway.live.systems.face import NodeParameters
from halfway.live.systems.live_systems import face_of
from halfway.live.trace.parts import (
    AROUND,
    END,
    HEAD,
    MARK,
    RECORDS,
    ROWS,
    STATE,
    around_of,
    beside,
    opened_state_file,
    parts_in,
)
from halfway.problem import Problem, reason_of

_PARQUET = ".parquet"
_RECORD_AGAIN = "record the trace again, because the node stopped while it wrote this file"
_COPY_ALL = "copy the whole folder, with its hidden files"


class Replayed(NamedTuple):
    """The result of a replay of one file of a live trace."""

    node: str
    system: str
    records: int
    is_same: bool  # whether the state at the end is that of the live node
    file: str


def replay(path: Path) -> Iterator[Replayed]:
    """Replay a recording, a Parquet file of a trace, or all files of a folder in the order of
    names.

    Raises Problem for a file that is not a trace, or that ends too early.
    """
    if path.is_dir():
        files = sorted(path.glob(f"[!.]*{_PARQUET}"))
        if not files:
            what = "the folder has no trace yet"
            raise Problem(
                what, where=str(path), remedy="wait up to 10 s for the first file of the trace"
            )
    else:
        check_regular(path)
        files = [path]
    made = _Made()
    for file in files:
        yield made.replayed(file)


class _Made:
    """The handler of the last replayed node, kept for the next file of this node."""

    def __init__(self) -> None:
        self._head: dict[str, Any] = {}
        self._stepper: Stepper | None = None

    def replayed(self, path: Path) -> Replayed:
        """Replay one file of a live trace."""
        content, rows, remedy = _content(path)
        count = 0
        for part_type, part in parts_in(content):
            if part_type == HEAD:
                stepper, head = self._stepper_of(json.loads(part))
            elif part_type == STATE:
                _fill(list(arrays(stepper.node.state)), part, path)
            elif part_type == AROUND:
                _fill(around_of(stepper), part, path)
            elif part_type in (RECORDS, ROWS):
                records = np.frombuffer(part, RECORD) if part_type == RECORDS else rows(part)
                for record in records.view(np.recarray):
                    stepper.reenter(record)
                count += len(records)
            elif part_type == END:
                same = state_digest(stepper.node.state) == json.loads(part)["digest"]
                return Replayed(head["node"], head["system"], count, same, path.name)
        raise Problem("the trace ends too early", where=str(path), remedy=remedy)

    def _stepper_of(self, head: dict[str, Any]) -> tuple[Stepper, dict[str, Any]]:
        """Return the handler for the replay of a head: the handler of the last head, if only the
        time differs.
        """
        same = {**head, "at": None} == {**self._head, "at": None}
        if self._stepper is None or not same:
            self._head, self._stepper = head, _stepper(head)
        return self._stepper, head


def _content(path: Path) -> tuple[bytes, Callable[[bytes], npt.NDArray[np.void]], str]:
    """Return what a replay of a live trace needs: the bytes of the trace's parts, the function that
    reads the rows of a part, and the remedy if the trace has no end.
    """
    if path.suffix != _PARQUET:
        content = path.read_bytes()
        if not content.startswith(MARK):
            raise Problem("expected the trace of a live node", where=str(path))
        return content, _no_rows, _RECORD_AGAIN
    try:
        content = opened_state_file(beside(path).read_bytes())
    except OSError as error:
        what = f"the state of this trace file cannot be read: {reason_of(error)}"
        raise Problem(what, where=str(path), remedy=_COPY_ALL) from None
    except ValueError:
        what = "the state of this trace file is damaged"
        raise Problem(what, where=str(path), remedy=_COPY_ALL) from None
    return content, _Rows(path).next, _COPY_ALL


class _Rows:
    """The received records in the Parquet file of a live trace, in order."""

    def __init__(self, path: Path) -> None:
        import pyarrow as pa
        from pyarrow import parquet

        self._path, self._at = path, 0
        try:
            table = parquet.read_table(path, columns=["what", *PLAIN, "args", "reals"])
        except (OSError, pa.ArrowInvalid, KeyError) as error:
            raise Problem(f"expected the trace of a live node: {error}", where=str(path)) from None
        received = table.filter(pa.compute.equal(table["what"], "received")).combine_chunks()
        self._records = np.zeros(received.num_rows, RECORD)
        for name in (*PLAIN, "args", "reals"):
            column = received[name].combine_chunks()
            if name in ("args", "reals"):
                width = RECORD[name].shape[0]
                self._records[name] = column.flatten().to_numpy().reshape(-1, width)
            else:
                self._records[name] = column.to_numpy()

    def next(self, part: bytes) -> npt.NDArray[np.void]:
        """Take the next rows to replay. Raises Problem where the file has fewer."""
        count = int.from_bytes(part, "little")
        found = self._records[self._at : self._at + count]
        self._at += count
        if len(found) < count:
            raise Problem("the trace has too few records", where=str(self._path), remedy=_COPY_ALL)
        return found


def _no_rows(_part: bytes) -> npt.NDArray[np.void]:
    return np.zeros(0, RECORD)


def _stepper(head: dict[str, Any]) -> Stepper:
    limits = Limits(**head["limits"])
    role = head.get("role", "")
    parameters = NodeParameters(head["id"], head["key"], 0, limits, role=role)
    face = face_of(head["system"], head["options"], parameters)
    table = HelloTable(head["id"], 0, limits.neighbours, limits.heard, head.get("position"))
    stepper = Stepper(
        face.node,
        table.neighbourhood,
        node_id=head["id"],
        incarnation=head["incarnation"],
        hashes=np.zeros(limits.topics, np.uint64),
    )
    if stepper.is_stored():
        stepper.compile()
    return stepper


def _fill(targets: list[Any], content: bytes, path: Path) -> None:
    """Write the arrays of a part of a live trace into the arrays of the node."""
    if sum(target.nbytes for target in targets) != len(content):
        what = "another version of the system recorded the trace"
        raise Problem(
            what, where=str(path), remedy="replay the trace with the version that recorded it"
        )
    at = 0
    for target in targets:
        if target.nbytes:
            target[...] = np.frombuffer(content, target.dtype, target.size, at).reshape(
                target.shape
            )
        at += target.nbytes
