"""Resolve pyproject.toml into requirements.lock, with hashes, for every platform and Python.

The resolver (uv) is installed to its own environment under build/, not to the project's.
"""

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TOOLS = ROOT / "build" / "lock-tools"
FLAGS = [
    *("--universal", "--python-version", "3.11", "--group", "dev"),
    *("--generate-hashes", "--no-emit-index-url", "--no-emit-find-links"),
    *("--no-annotate", "--no-header", "--quiet", "--output-file", "requirements.lock"),
]


def main() -> int:
    """Write requirements.lock; packages keep their locked versions unless `--upgrade` is given."""
    python = TOOLS / "bin" / "python"
    if not python.exists():
        venv.create(TOOLS, with_pip=True)
    steps = (
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "uv"],
        [python, "-m", "uv", "pip", "compile", "pyproject.toml", *FLAGS, *sys.argv[1:]],
    )
    for step in steps:
        done = subprocess.run(step, cwd=ROOT, check=False)
        if done.returncode != 0:
            sys.stderr.write("error: requirements.lock is unchanged; see the lines above\n")
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
