"""A process that works for a command ends with it."""

import os
import subprocess
import sys

import pytest

from halfway.pipeline.parent_process import PARENT

CHILD = """
import time
from halfway.pipeline.parent_process import end_with_parent
end_with_parent(0.05)
print("works", flush=True)
time.sleep(300)
"""
COMMAND = f"""
import os, subprocess, sys
from halfway.pipeline.parent_process import known_parent
child = subprocess.Popen([sys.executable, "-c", {CHILD!r}], env=os.environ | known_parent())
child.wait()
"""


def test_a_process_ends_with_the_command_that_started_it() -> None:
    with subprocess.Popen([sys.executable, "-c", COMMAND], stdout=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == b"works\n"
        assert command.poll() is None
        command.terminate()
        # The process beside it has the same stdout, which therefore ends with that process.
        assert command.communicate(timeout=200.0)[0] == b""


@pytest.mark.long
def test_a_process_without_its_command_ends_at_once() -> None:
    gone = {PARENT: str(os.getppid())}  # this process starts the next one
    done = subprocess.run(
        [sys.executable, "-c", CHILD], env=os.environ | gone, timeout=200.0, check=False
    )
    assert done.returncode == 1
