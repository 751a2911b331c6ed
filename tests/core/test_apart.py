"""Machine code that knows types of somebody's own file: never stale, and never in our index."""

import subprocess
import sys
from pathlib import Path

PROTOCOL = """
from typing import NamedTuple
import numpy as np
from halfway.core.handler import handles

class State(NamedTuple):
    heard: np.ndarray

@handles(State)
def handle(state, rules, around, book, i, message, out):
    state.heard[i] += STEP
"""
# A kernel of ours, in a file of its own, that calls whatever handler its state has.
DRIVER = """
from halfway.core.compiled import kernel
from halfway.core.handler import handle

@kernel
def drive(state, times):
    for k in range(times):
        handle(state, 0, 0, 0, k % 2, 0, 0)
"""
RUN = """
import sys, types
from pathlib import Path
import numpy as np
sys.path.insert(0, {folder!r})
import driver
from halfway.adapters import user_protocol as own_system
source = own_system.OwnSource("mine", Path({folder!r}, "mine.py").read_text())
module = own_system._imported(source)
heard = np.zeros(2, np.int64)
driver.drive(module.State(heard), 10)
print(int(heard.sum()), sum(driver.drive.stats.cache_hits.values()))
"""
INDICES = """
from pathlib import Path
from halfway.core.compiled import CACHE_FOLDER
for index in sorted(Path(CACHE_FOLDER).rglob("driver.drive-*.nbi")):
    if {folder!r}[-20:].encode() in index.read_bytes() or b"mine_" in index.read_bytes():
        print(index.relative_to(CACHE_FOLDER).parts[0][:4])
"""


def ran(folder: Path, text: str) -> list[str]:
    """A program's words, in a process of its own."""
    told = subprocess.run(
        [sys.executable, "-c", text.format(folder=str(folder))],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert told.returncode == 0, told.stderr
    return told.stdout.split()


def test_an_edited_handler_never_runs_as_it_was(tmp_path: Path) -> None:
    (tmp_path / "driver.py").write_text(DRIVER)
    mine = tmp_path / "mine.py"
    mine.write_text(PROTOCOL.replace("STEP", "1"))
    assert ran(tmp_path, RUN) == ["10", "0"]
    assert ran(tmp_path, RUN) == ["10", "1"]  # the second process finds it compiled
    mine.write_text(PROTOCOL.replace("STEP", "3"))
    assert ran(tmp_path, RUN) == ["30", "0"]
    mine.write_text(PROTOCOL.replace("STEP", "1"))
    assert ran(tmp_path, RUN) == ["10", "1"]  # and what it was before is still there
    assert set(ran(tmp_path, INDICES)) == {"own-"}
