"""The flood in C, called through ctypes, and in ns-3, run as a separate program."""

import ctypes
import importlib.util
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfway.sim.radio.delays import distances
from halfway.world.graphs.network import Network
from side_by_side import YARDSTICK, c_library, remark

HERE = Path(__file__).parent
# Name of each loop in C, by candidate. The heap queues every reception.
LOOPS = {
    YARDSTICK: "flood_by_heap",
    "C, a calendar": "flood_by_calendar",
    "C, the engine's queue": "flood_by_transmission",
}


class Task(ctypes.Structure):
    """The structure `task` of flood.c."""

    _fields_ = (
        ("n", ctypes.c_uint32),
        ("start", ctypes.c_void_p),
        ("who", ctypes.c_void_p),
        ("delay", ctypes.c_void_p),
        ("turn", ctypes.c_void_p),
        ("hop", ctypes.c_double),
        ("wait", ctypes.c_double),
        ("events", ctypes.c_int32),
        ("publisher", ctypes.c_void_p),
        ("published", ctypes.c_void_p),
        ("slots", ctypes.c_uint32),
        ("order_hash", ctypes.c_void_p),
        ("held", ctypes.c_void_p),
    )


class Result(NamedTuple):
    """The result of a loop in C."""

    delivered: int
    order: int  # hash of the order of deliveries; 0: not computed
    held: int  # bytes


class InC:
    """The loops of flood.c on one flood."""

    def __init__(self, library: ctypes.CDLL, flood: Any, hop: float, wait: float) -> None:
        network: Network = flood.network
        self.compiled, self.hash, self.held = library, ctypes.c_uint64(0), ctypes.c_uint64(0)
        published = np.arange(flood.events, dtype=np.float64)
        turn = None if flood.delay is None else distances(network, flood.delay).turn
        self.owners = (network.start, network.who, flood.delay, turn, flood.publishers, published)
        at = [None if array is None else array.ctypes.data for array in self.owners]
        # The heap queues every reception: it needs a slot for each that is in flight.
        self.task = Task(
            network.n, *at[:4], hop, wait, flood.events, *at[4:], flood.slots * 8, None,
            ctypes.addressof(self.held),
        )  # fmt: skip

    def run(self, loop: str, hashed: bool = False) -> Result:
        """Flood the network by one of the loops in C."""
        self.task.order_hash = ctypes.addressof(self.hash) if hashed else None
        self.hash.value = 0
        function = getattr(self.compiled, loop)
        function.restype = ctypes.c_int64
        delivered = function(ctypes.byref(self.task))
        return Result(int(delivered), self.hash.value, self.held.value)


def loops_in_c() -> ctypes.CDLL | None:
    """Return flood.c compiled; None where there is no compiler."""
    return c_library(HERE / "flood.c")


class InNs3(NamedTuple):
    """The result of the flood in ns-3."""

    delivered: int
    executed: int  # events of its own
    seconds: float  # of its loop
    held: int  # bytes


class Ns3(NamedTuple):
    """The program of ns-3; it times its loop, without its start and the building of the network."""

    program: Path

    def run(self, flood: Any, hop: float, wait: float) -> InNs3:
        """Flood the network by the program of ns-3."""
        network: Network = flood.network
        task = self.program.parent / "task"
        arrays = [network.start, network.who, flood.publishers]
        arrays += [] if flood.delay is None else [flood.delay]
        task.write_bytes(b"".join(array.tobytes() for array in arrays))
        numbers = (network.n, len(network.who), flood.events, hop, wait, len(arrays) - 3)
        command = [str(self.program), str(task), *map(str, numbers)]
        result = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        return InNs3(int(result[0]), int(result[1]), float(result[2]), int(result[3]))


def with_ns3(folder: Path) -> Ns3 | None:
    """Compile the program of ns-3 into a folder; None, with a remark, if ns-3 is not installed.

    NS3: the folder with its `include` and `lib64`, if Python does not find the wheel.
    """
    spec = importlib.util.find_spec("ns3")
    wheel = list(spec.submodule_search_locations or []) if spec else []
    place = os.environ.get("NS3") or (wheel[0] if wheel else "")
    compiler = shutil.which("c++") or shutil.which("g++")
    libraries = sorted(Path(place).glob("lib*/libns3*-core.so")) if place else []
    if not libraries or compiler is None:
        remark("ns-3 is not installed (pip install ns3, 0.5 GB; or NS3=its folder): skipped")
        return None
    program, where = folder / "flood_ns3", libraries[0].parent
    core = libraries[0].stem.removeprefix("lib")
    names = [core, core.replace("-core", "-network")]
    command = [compiler, "-O3", "-march=native", "-std=c++20", f"-I{place}/include", f"-L{where}"]
    command += [str(HERE / "flood_ns3.cc"), "-o", str(program), *(f"-l{name}" for name in names)]
    done = subprocess.run(
        [*command, f"-Wl,-rpath,{where}"], capture_output=True, text=True, check=False
    )
    if done.returncode:
        remark(f"{compiler} fails on flood_ns3.cc: ns-3 is skipped")
        return None
    return Ns3(program)
