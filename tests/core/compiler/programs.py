"""Programs of compiled functions in files of their own, run in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path


def run_program(folder: Path, text: str, **environment: str) -> list[str]:
    """Return the words that a program prints; it can import the modules of the folder."""
    # Python takes an edit of the same second and length for the old text if it has bytecode.
    fixed = {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-c", f"import sys\nsys.path.insert(0, {str(folder)!r})\n{text}"],
        capture_output=True, text=True, check=False,
        env={**os.environ, **fixed, **environment},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def write_modules(folder: Path, **sources: str) -> None:
    """Write modules to a folder."""
    for name, source in sources.items():
        (folder / f"{name}.py").write_text(source)
