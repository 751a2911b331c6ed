"""The parent of a process that works for a command: what the process takes over from its parent,
and its end after the end of the parent.
"""

import os
import sys
import threading
import time
from pathlib import Path

PARENT = "HALFWAY_PARENT"  # environment variable: id of the command's process
_POLL_S = 1.0


def known_parent() -> dict[str, str]:
    """Return the environment variable by which a new process knows that this process is its
    parent.
    """
    return {PARENT: str(os.getpid())}


def environment_with_imports() -> dict[str, str]:
    """Return the environment that a new process takes over from this process, its parent.

    The new process can import what this process can import: a measurement of a user, too.
    """
    path = os.pathsep.join(dict.fromkeys(one or str(Path.cwd()) for one in sys.path))
    return os.environ | known_parent() | {"PYTHONPATH": path}


def end_with_parent(poll_s: float = _POLL_S) -> None:
    """End this process soon after its parent has ended, however that ended.

    A command that a signal kills does not end the processes that it started. They would continue
    although no process reads their results. Files that they are writing stay incomplete.
    """
    parent = int(os.environ.get(PARENT, os.getppid()))
    threading.Thread(target=_watch, args=(parent, poll_s), daemon=True).start()


def _watch(parent: int, poll_s: float) -> None:
    while os.getppid() == parent:
        time.sleep(poll_s)
    os._exit(1)
