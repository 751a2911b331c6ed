"""CONTRIBUTING.md's recipe for a simple system is complete: a system added by it passes the tests
of tables and pages.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.sources import REPOSITORY

_COPIED = ("src", "tests", "tools", "docs", "examples", "bench", "README.md", "CONTRIBUTING.md",
           "CHANGELOG.md", "Makefile", "pyproject.toml", ".ci", ".gitignore")  # fmt: skip
# The tests that ask for an entry of every system, in the copy of the repository.
_ASKING = (
    "tests/documentation", "tests/house", "tests/adapters/test_what_a_node_is_given.py",
    "tests/adapters/test_what_sizes_a_node.py", "tests/adapters/test_kinds_of_networks.py",
    "tests/protocols/test_histories.py", "tests/sim/environment/test_lost_memory.py",
    "tests/scenario/test_publisher_periods.py", "tests/sim/test_node_ids.py",
    "tests/live/step/test_parity.py", "tests/live/trace/test_folder.py",
)  # fmt: skip
# The tests of one system of another name are the same as here.
_OF_OTHERS = "drip or siena or walk or georendezvous or gossip or entropy or rumor or counter"


def _replaced(path: Path, pattern: str, new: str) -> None:
    text, count = re.subn(pattern, new, path.read_text("utf-8"), count=1, flags=re.MULTILINE)
    assert count == 1, f"{path.name} has no {pattern}"
    path.write_text(text, "utf-8")


def _with_echo(folder: Path) -> None:
    """Copy the repository to a folder, and add the system `echo`, a copy of flooding, by the four
    steps of the recipe.
    """
    for name in _COPIED:
        source, target = REPOSITORY / name, folder / name
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, target)
    module = (REPOSITORY / "src/halfway/protocols/flooding.py").read_text("utf-8")
    for old, new in (("FloodState", "EchoState"), ('"flood"', '"echo"'), ("Flooding:", "Echo:")):
        assert old in module
        module = module.replace(old, new)
    (folder / "src/halfway/protocols/echo.py").write_text(module, "utf-8")
    entry = (
        'echo": About(\n        "halfway.protocols.echo", "Every node echoes an event.", "a test"'
    )
    _replaced(folder / "src/halfway/protocols/__init__.py",
              r'^    "gossip": About\(', f'    "{entry}\n    ),\n    "gossip": About(')  # fmt: skip
    subprocess.run(["git", "init", "-q"], cwd=folder, check=True)  # house tests list files by git
    own = '"""Echo repeats an event."""\n\n\ndef test_nothing() -> None:\n    """A stand-in."""\n'
    (folder / "tests/protocols/test_echo.py").write_text(own, "utf-8")
    _run(folder, "-m", "tools.system_tables")
    _replaced(
        folder / "README.md", r"^\| gossip \|", "| echo | 1 | 1 | 1 | 1 | 1 | 1 | 1 |\n| gossip |"
    )
    _replaced(folder / "docs/live.md", r"^\| `flooding`", "| `echo`, `flooding`")
    _replaced(folder / "CHANGELOG.md", r"^### Added\n", "### Added\n\n- The system `echo`.")


def _run(folder: Path, *arguments: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(folder / "src")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]


@pytest.mark.slow
def test_a_system_added_by_the_recipe_passes_the_tests_that_ask_for_it(tmp_path: Path) -> None:
    _with_echo(tmp_path)
    _run(tmp_path, "-m", "pytest", "-q", "-k", f"not ({_OF_OTHERS} or recipe)", *_ASKING)
