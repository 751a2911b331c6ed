"""Compilation for live nodes in a separate process, while the nodes run interpreted.

`python -m halfway.live.runtime.compile_process` compiles the system of the request on its stdin.
The machine code stays in the compile cache, where the nodes find it.
"""

import os
import subprocess
import sys
from collections.abc import Mapping

import msgspec
import numpy as np

from halfway.core.options import Value
from halfway.live.limits import Limits
from halfway.live.link.neighbour_table import HelloTable
from halfway.live.step.datagram_flow import Flow
from halfway.live.step.node_stepper import Stepper
from halfway.live.systems.face import NodeParameters
from halfway.live.systems.live_systems import face_of
from halfway.package import PACKAGE_FOLDER

_MODULE = "halfway.live.runtime.compile_process"


class CompileRequest(msgspec.Struct):
    """A system to compile ahead, with its options. The machine code does not depend on sizes of
    tables.
    """

    system: str
    options: dict[str, Value]


def started(system: str, options: Mapping[str, Value]) -> "subprocess.Popen[bytes]":
    """Start the process that compiles a system for live nodes; its exit status is 0 when it is
    done.
    """
    package = str(PACKAGE_FOLDER.parent)
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", _MODULE],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": path},
        start_new_session=True,
    )
    assert process.stdin is not None
    with process.stdin as stdin:
        stdin.write(msgspec.json.encode(CompileRequest(system, dict(options))))
    return process


def main() -> None:
    """Compile the system of the request on stdin, in a separate process."""
    os.nice(10)  # the nodes come first
    request = msgspec.json.decode(sys.stdin.buffer.read(), type=CompileRequest)
    limits = Limits()
    face = face_of(request.system, request.options, NodeParameters(1, 1, 1, limits))
    table = HelloTable(1, 0, limits.neighbours, limits.heard)
    flow = Flow(face.node.kinds, limits.mtu, np.zeros(limits.topics + 1, np.int64))
    Stepper(
        face.node, table.neighbourhood, node_id=1, incarnation=0,
        hashes=np.zeros(limits.topics, np.uint64), flow=flow,
    ).compile()  # fmt: skip


if __name__ == "__main__":
    main()
