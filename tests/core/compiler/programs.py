"""Programs of compiled functions in files of their own, run in processes of their own.

Most of the CPU time of a small program is the start of numba. So `run_program` forks a process
that has imported numba and filled numba's tables of types. It has compiled nothing, and has
imported nothing of Halfway.
"""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

# Reads a JSON array a line: a program, its environment, and the files for its stdout and stderr.
# Writes the exit status of each program.
_FORKS = """
import gc, json, os, sys
from numba.core.registry import cpu_target
cpu_target.typing_context.refresh()
cpu_target.target_context.refresh()
gc.freeze()
for line in sys.stdin:
    text, environment, *files = json.loads(line)
    if not (child := os.fork()):
        for number, file in enumerate(files, 1):
            os.dup2(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.environ.clear()
        os.environ.update(environment)
        exec(text, {"__name__": "__main__"})
        sys.exit()
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


def run_program(folder: Path, text: str, **environment: str) -> list[str]:
    """Return the words that a program prints; it can import the modules of the folder."""
    # Numba reads its variables when it is imported.
    if any(name.startswith("NUMBA_") for name in environment):
        return start_program(folder, text, **environment)
    written = [folder / "stdout.txt", folder / "stderr.txt"]
    forks = _forks()
    assert forks.stdin is not None
    assert forks.stdout is not None
    request = [_program(folder, text), _environment(folder, environment), *map(str, written)]
    forks.stdin.write(json.dumps(request) + "\n")
    forks.stdin.flush()
    status = forks.stdout.readline().strip()
    output, errors = (file.read_text() for file in written)
    assert status == "0", errors
    return output.split()


def start_program(folder: Path, text: str, **environment: str) -> list[str]:
    """Return the words that a program prints, like `run_program`, from a new Python process."""
    done = subprocess.run(
        [sys.executable, "-c", _program(folder, text)],
        capture_output=True, text=True, check=False, env=_environment(folder, environment),
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@cache
def _forks() -> "subprocess.Popen[str]":
    """The process that forks the programs; it ends with its stdin, at the end of this process."""
    return subprocess.Popen(
        [sys.executable, "-c", _FORKS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )  # fmt: skip


def _program(folder: Path, text: str) -> str:
    # Python takes an edit of the same second and length for the old text if it has bytecode.
    start = f"import sys\nsys.path.insert(0, {str(folder)!r})\nsys.dont_write_bytecode = True\n"
    return start + text


def _environment(folder: Path, more: dict[str, str]) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), **more}


def write_modules(folder: Path, **sources: str) -> None:
    """Write modules to a folder."""
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
