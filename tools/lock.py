"""Resolve pyproject.toml into requirements.lock, with hashes, for every platform and Python."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FLAGS = [
    *("--universal", "--python-version", "3.11", "--group", "dev"),
    *("--generate-hashes", "--no-emit-index-url", "--no-emit-find-links"),
    *("--no-annotate", "--no-header", "--quiet", "--output-file", "requirements.lock"),
]


def main() -> int:
    """Write requirements.lock; packages keep their locked versions unless `--upgrade` is given."""
    resolve = [sys.executable, "-m", "uv", "pip", "compile", "pyproject.toml", *FLAGS]
    if subprocess.run([*resolve, *sys.argv[1:]], cwd=ROOT, check=False).returncode != 0:
        sys.stderr.write("error: requirements.lock is unchanged; see the lines above\n")
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
