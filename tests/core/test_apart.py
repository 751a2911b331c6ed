"""Machine code that depends on a user's file: never stale, and in a folder of its own."""

import subprocess
import sys
from pathlib import Path

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
# A kernel that calls the handler of its state.
DRIVER = """
from halfway.core.compiled import kernel
from halfway.core.handler import handle

@kernel
def drive(state, times):
    for k in range(times):
        handle(state, 0, 0, k % 2, 0, 0)
"""
RUN = """
import sys, types
from pathlib import Path
import numpy as np
sys.path.insert(0, {folder!r})
import driver
from halfway.adapters import user_protocol
source = user_protocol.UserSource("mine", Path({folder!r}, "mine.py").read_text())
module = user_protocol._imported(source)
received = np.zeros(2, np.int64)
driver.drive(module.State(received), 10)
print(int(received.sum()), sum(driver.drive.stats.cache_hits.values()))
"""
INDICES = """
from pathlib import Path
from halfway.core.compiler.cache import CACHE_FOLDER
for index in sorted(Path(CACHE_FOLDER).rglob("driver.drive-*.nbi")):
    if {folder!r}[-20:].encode() in index.read_bytes() or b"mine_" in index.read_bytes():
        print(index.relative_to(CACHE_FOLDER).parts[0][:4])
"""


def ran(folder: Path, text: str) -> list[str]:
    """The words that a program prints, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", text.format(folder=str(folder))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_an_edited_handler_is_compiled_anew(tmp_path: Path) -> None:
    (tmp_path / "driver.py").write_text(DRIVER)
    mine = tmp_path / "mine.py"
    mine.write_text(PROTOCOL.replace("STEP", "1"))
    assert ran(tmp_path, RUN) == ["10", "0"]
    assert ran(tmp_path, RUN) == ["10", "1"]  # the second process loads the machine code
    mine.write_text(PROTOCOL.replace("STEP", "3"))
    assert ran(tmp_path, RUN) == ["30", "0"]
    mine.write_text(PROTOCOL.replace("STEP", "1"))
    assert ran(tmp_path, RUN) == ["10", "1"]  # the code of the earlier text is still there
    assert set(ran(tmp_path, INDICES)) == {"own-"}
