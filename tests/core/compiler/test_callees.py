"""Callees as IR: machine code for Python alone, with the results of plain numba."""

import os
from pathlib import Path

import pytest

from halfway.sim.simulation import Simulation
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.workload.demand import Drawn
from tests.core.compiler.programs import run_program, write_modules

KERNELS = """
import numpy as np
from halfway.core.compiled import apart, inlined, kernel

@apart
def least(values, low, high):
    best = values[low]
    for k in range(low + 1, high):
        best = min(best, values[k])
    return best

@inlined
def halves(values):
    middle = values.shape[0] // 2
    return least(values, 0, middle), least(values, middle, values.shape[0])

@kernel
def checked(values, limit):
    if values.shape[0] > limit:
        raise ValueError("more values than the limit")
    return values.sum()

@kernel
def outer(values, limit):
    low, high = halves(values)
    return low + high + checked(values, limit)
"""
USE = """
import numpy as np, kernels
values = np.array([3.0, 1.0, 4.0, 1.5])
print(kernels.outer(values, 9))
try:
    kernels.outer(values, 2)
except ValueError as error:
    print(str(error).replace(" ", "-"))
"""
CALLEES = """
print(kernels.halves(values)[1], kernels.checked(values, 9), kernels.least(values, 1, 3))
print(kernels.outer(values, 9))
"""
EXECUTABLES = """
print(*(len(getattr(kernels, name).overloads) for name in ("outer", "checked", "halves", "least")))
"""
FILES = "from pathlib import Path\nimport os\n" + (
    "print(*sorted(f.name.split('-')[0] for f in Path(os.environ['XDG_CACHE_HOME'])"
    ".rglob('*.kernel')))\n"
)
SIMULATE = """
from halfway.sim.simulation import Simulation
from halfway.world.graphs.unit_disk import connected_unit_disk
from halfway.world.workload.demand import Drawn
network = connected_unit_disk(60, 0.25, seed=1).network
demand = Drawn(n=60, subscribers_each=5, events=5, seed=1)
print(Simulation("gossip", network, workload=demand, seconds=20.0).run().digest)
"""
# A node of gossip with nine neighbours, which handles records of twelve events.
HANDLE = """
import hashlib
import numpy as np
from halfway.core.door import Door, enter
from halfway.core.message import RECORD
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import outbox
from halfway.core.values.digest import state_digest
from halfway.protocols import gossip

lists = ([0], "u4"), ([9], "u4"), (range(1, 10), "i4"), ([-1] * 9, "i4"), ([], "f8"), ([], "f8")
around = Neighbourhood(*(np.array(one, form) for one, form in lists))
state, out = gossip.state(np.zeros(1, np.int32), 2, 1, 5), outbox(256)
door = Door(state, gossip.Rules(3, 3, 1.0, 0.5, 1.0, 1), around, out)
message = np.zeros(1, RECORD).view(np.recarray)[0]
for k in range(48):
    message.kind = gossip.KINDS.number(("subscribe", "publish", "push", "round")[k % 4])
    message.event, message.publisher, message.hops = k // 4, k % 2, k % 3
    enter(door, np.uint32(0), message)
print(256 - int(out.tally[0]), state_digest(state), hashlib.sha256(out.pool.tobytes()).hexdigest())
"""
OTHER_VERSION = "import numba\nnumba.__version__ = '0.1.0'\n"
RESULT = ["12.0", "more-values-than-the-limit"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_modules(tmp_path, kernels=KERNELS)
    return tmp_path


def test_only_the_outermost_kernel_is_machine_code(folder: Path) -> None:
    assert run_program(folder, USE + EXECUTABLES + FILES) == [*RESULT, "1", "0", "0", "0",
                                                              "kernels.outer"]  # fmt: skip


def test_a_callee_can_be_called_from_python_too(folder: Path) -> None:
    expected = [*RESULT, "1.5", "9.5", "1.0", "12.0"]
    assert run_program(folder, USE + CALLEES) == expected
    # From the cache, and with the callees first.
    assert run_program(folder, USE + CALLEES) == expected
    first = "import numpy as np, kernels\nvalues = np.array([3.0, 1.0, 4.0, 1.5])\n"
    assert run_program(folder, first + CALLEES + USE) == [*expected[2:], *RESULT]


def test_a_function_of_plain_numba_can_call_a_kernel(folder: Path) -> None:
    plain = """
import numba, numpy as np, kernels
kernels.checked(np.ones(3), 9)  # loaded or compiled for Python before

@numba.njit
def twice(values):
    return 2 * kernels.outer(values, 9) + kernels.checked(values, 9)

print(twice(np.ones(4)))
"""
    assert run_program(folder, plain) == run_program(folder, plain) == ["16.0"]


def test_another_version_of_numba_has_the_same_results(folder: Path) -> None:
    plain = run_program(folder, OTHER_VERSION + USE + EXECUTABLES)
    assert plain[:2] == RESULT
    assert all(int(executables) > 0 for executables in plain[2:])  # numba makes all executable
    assert run_program(folder, OTHER_VERSION + USE + CALLEES) == [
        *RESULT, "1.5", "9.5", "1.0", "12.0"
    ]  # fmt: skip


def kept() -> dict[str, str]:
    """The cache of the tests. It keeps the machine code of plain numba under the other version."""
    return {"XDG_CACHE_HOME": os.environ["XDG_CACHE_HOME"]}


def test_a_handler_is_the_same_with_plain_numba_and_interpreted(tmp_path: Path) -> None:
    ours = run_program(tmp_path, HANDLE, **kept())
    assert int(ours[0]) > 48
    assert run_program(tmp_path, OTHER_VERSION + HANDLE, **kept()) == ours
    assert run_program(tmp_path, HANDLE, NUMBA_DISABLE_JIT="1") == ours


def simulated() -> list[str]:
    """The digest that SIMULATE prints, made in this process."""
    network = connected_unit_disk(60, 0.25, seed=1).network
    demand = Drawn(n=60, subscribers_each=5, events=5, seed=1)
    return [Simulation("gossip", network, workload=demand, seconds=20.0).run().digest]


def test_a_simulation_is_the_same_interpreted(tmp_path: Path) -> None:
    assert run_program(tmp_path, SIMULATE, NUMBA_DISABLE_JIT="1") == simulated()


@pytest.mark.slow
def test_a_simulation_is_the_same_with_plain_numba(tmp_path: Path) -> None:
    """Plain numba makes an executable of each function below the engine."""
    assert run_program(tmp_path, OTHER_VERSION + SIMULATE, **kept()) == simulated()


def test_an_error_of_typing_is_reported_again(folder: Path) -> None:
    wrong = """
import kernels
for _ in range(2):
    try:
        kernels.outer("text", 1)
    except Exception as error:
        print(type(error).__name__)
"""
    assert run_program(folder, wrong) == ["TypingError", "TypingError"]
