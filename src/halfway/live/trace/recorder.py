"""The recorder of a live node, which writes the node's state, and then every handled record and
neighbour.

A trace is a file of frames: a JSON head, the state when the recording began, the records in the
order of the handler, between them each change of the surroundings, and the digest of the state at
the end. Records have the layout of the simulator's traces (`RECORD`).
"""

import contextlib
import json
import os
from pathlib import Path
from typing import BinaryIO

from halfway.core.values.digest import arrays, state_digest
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.trace.parts import (
    AROUND,
    END,
    HEAD,
    MARK,
    RECORDS,
    STATE,
    around_of,
    head_of,
    part_bytes,
)
from halfway.problem import Problem


class Recorder:
    """The recorder of a node, until `close`. The node needs a log, see `Settings.trace`.

    Raises Problem if the file exists or cannot be written, or if the node keeps no log.
    """

    def __init__(self, node: MeshNode, path: Path) -> None:
        if not len(node.stepper.tables.log):
            what = "this node keeps no log of its records"
            raise Problem(what, remedy="start the node with `halfway node --log`")
        if node.stepper.on_log is not None:
            what = "another command records this node, or the node writes its own trace"
            raise Problem(what, remedy="wait for the command, or replay the folder of --trace")
        self._node, self._path, self._count = node, path, 0
        try:
            self._file: BinaryIO = path.open("xb")
        except OSError as error:
            what = f"cannot write a trace: {(error.strerror or str(error)).lower()}"
            remedy = "name a new file in a folder in which the node can write"
            raise Problem(what, where=str(path), remedy=remedy) from None
        node.stepper.take_log()
        self._around = b""
        self._begin()
        node.stepper.on_log = self._write

    def close(self) -> int:
        """Complete the recorder's file; return the number of its records."""
        self._write()
        self._node.stepper.on_log = None
        end = {"digest": state_digest(self._node.stepper.node.state), "records": self._count}
        self._part(END, json.dumps(end).encode())
        with contextlib.suppress(OSError):
            os.fsync(self._file.fileno())
        self._file.close()
        return self._count

    def _begin(self) -> None:
        node = self._node
        self._file.write(MARK)
        self._part(HEAD, json.dumps(head_of(node)).encode())
        self._part(STATE, b"".join(one.tobytes() for one in arrays(node.stepper.node.state)))

    def _write(self) -> None:
        """Write the changed surroundings of the handler into the recording, and the records since
        the last call.

        The node calls this before a change, so that these records came before the change.
        """
        around = b"".join(array.tobytes() for array in around_of(self._node.stepper))
        if around != self._around:
            self._around = around
            self._part(AROUND, around)
        records = self._node.stepper.take_log()
        if len(records):
            self._count += len(records)
            self._part(RECORDS, records.tobytes())

    def _part(self, part_type: bytes, content: bytes) -> None:
        self._file.write(part_bytes(part_type, content))
