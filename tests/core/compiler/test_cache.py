"""The compile cache: never stale, found again, and one file for what one kernel can reach."""

import platform
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.core.compiler.programs import run_program, start_program, write_modules

CONSTANT = "STEP = 1\n"
CALLEE = """
from constant import STEP
from halfway.core.compiled import inlined

@inlined
def stepped(value):
    return value + STEP
"""
DRIVER = """
from callee import stepped
from halfway.core.compiled import kernel

@kernel
def walked(steps):
    total = 0
    for _ in range(steps):
        total = stepped(total)
    return total
"""
OTHER = """
from halfway.core.compiled import kernel

@kernel
def doubled(value):
    return 2 * value
"""
WALK = "from driver import walked\nprint(walked(10), sum(walked.stats.cache_hits.values()))"
DOUBLE = "from other import doubled\nprint(doubled(4), sum(doubled.stats.cache_hits.values()))"

PROTOCOL = """
from typing import NamedTuple
import numpy as np
from halfway.core.handler import handles

class State(NamedTuple):
    received: np.ndarray

@handles(State)
def handle(state, rules, neighbourhood, i, message, out):
    state.received[i] += STEP
"""
# A kernel that calls the handler of its state, and a user's protocol that it does not import.
HANDLED = """
from halfway.core.compiled import kernel
from halfway.core.handler import handle

@kernel
def drive(state, times):
    for k in range(times):
        handle(state, 0, 0, k % 2, 0, 0)
"""
HANDLE = """
from pathlib import Path
import numpy as np
import drive
from halfway.adapters import user_protocol
source = user_protocol.UserSource("mine", Path({file!r}).read_text())
module = user_protocol._imported(source)
received = np.zeros(2, np.int64)
drive.drive(module.State(received), 10)
print(int(received.sum()), sum(drive.drive.stats.cache_hits.values()))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_modules(tmp_path, constant=CONSTANT, callee=CALLEE, driver=DRIVER, other=OTHER)
    return tmp_path


def test_a_second_process_loads_the_machine_code(folder: Path) -> None:
    assert start_program(folder, WALK) == ["10", "0"]
    assert start_program(folder, WALK) == ["10", "1"]


def test_an_edit_two_modules_away_is_seen(folder: Path) -> None:
    assert run_program(folder, WALK) == ["10", "0"]
    write_modules(folder, constant="STEP = 3\n")
    assert run_program(folder, WALK) == ["30", "0"]
    write_modules(folder, constant=CONSTANT)
    assert run_program(folder, WALK) == ["10", "1"]  # the code of the earlier text is still there


def test_an_edit_out_of_reach_compiles_nothing(folder: Path) -> None:
    assert run_program(folder, WALK + "\n" + DOUBLE) == ["10", "0", "8", "0"]
    write_modules(folder, callee=CALLEE.replace("value + STEP", "value + STEP + 1"))
    assert run_program(folder, WALK + "\n" + DOUBLE) == ["20", "0", "8", "1"]


@pytest.mark.parametrize("damage", ["flipped", "cut", "empty"])
def test_a_damaged_file_is_compiled_anew(folder: Path, damage: str) -> None:
    run_program(folder, WALK)
    [file] = (folder / "cache" / "halfway").glob("driver.walked-*.kernel")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    cut = {"flipped": content, "cut": content[:100], "empty": b""}[damage]
    file.write_bytes(cut)
    assert run_program(folder, WALK) == ["10", "0"]
    assert run_program(folder, WALK) == ["10", "1"]


def test_a_kernel_that_another_process_compiles_is_awaited(folder: Path) -> None:
    with ThreadPoolExecutor(2) as both:
        answers = list(both.map(lambda _: start_program(folder, WALK), range(2)))
    assert sorted(answers) == [["10", "0"], ["10", "1"]]


def test_a_folder_that_cannot_be_written_costs_time_only(folder: Path) -> None:
    (folder / "file").write_text("")
    assert run_program(folder, WALK, XDG_CACHE_HOME=str(folder / "file")) == ["10", "0"]


def test_an_edited_handler_is_compiled_anew(folder: Path) -> None:
    mine, program = folder / "mine.py", HANDLE.format(file=str(folder / "mine.py"))
    write_modules(folder, drive=HANDLED, mine=PROTOCOL.replace("STEP", "1"))
    assert run_program(folder, program) == ["10", "0"]
    assert run_program(folder, program) == ["10", "1"]
    mine.write_text(PROTOCOL.replace("STEP", "3"))
    assert run_program(folder, program) == ["30", "0"]
    mine.write_text(PROTOCOL.replace("STEP", "1"))
    assert run_program(folder, program) == ["10", "1"]


def test_old_machine_code_is_forgotten(folder: Path) -> None:
    small = "from halfway.core.compiler import cache\ncache._MOST_BYTES = 1\n"
    run_program(folder, WALK)
    run_program(folder, small + DOUBLE)
    assert not list((folder / "cache" / "halfway").glob("*.kernel"))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="machine code of wheels is for x86-64")
def test_machine_code_of_a_wheel_is_loaded(folder: Path) -> None:
    run_program(folder, WALK, NUMBA_CPU_NAME="x86-64", NUMBA_CPU_FEATURES="")
    shipped = (folder / "cache" / "halfway").rename(folder / "shipped")
    use = f"from pathlib import Path\nfrom halfway.core.compiler import cache\n" \
        f"cache.SHIPPED = Path({str(shipped)!r})\n"  # fmt: skip
    assert run_program(folder, use + WALK) == ["10", "1"]
    assert not list((folder / "cache").rglob("*.kernel"))
    write_modules(folder, constant="STEP = 2\n")
    assert run_program(folder, use + WALK) == ["20", "0"]
