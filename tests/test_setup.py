"""The set-up installs the locked packages with uv, and with pip where uv cannot."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

SETUP = Path(__file__).parents[1] / "tools" / "setup.py"
PIP = """#!/bin/sh
[ "$1" = config ] && echo "global.index-url='https://packages.example/simple'" && exit
cat "$6" > "$(dirname "$0")/asked"
"""
UV = """#!/bin/sh
echo "$UV_DEFAULT_INDEX $*" > "$(dirname "$0")/asked-of-uv"
"""


@pytest.fixture
def setup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program of the set-up, with an environment in `tmp_path` whose pip and uv are scripts."""
    spec = importlib.util.spec_from_file_location("set_up", SETUP)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    (tmp_path / "bin").mkdir()
    for name, text in (("pip", PIP), ("uv", UV)):
        (tmp_path / "bin" / name).write_text(text)
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setattr(module, "VENV", tmp_path)
    monkeypatch.setattr(module, "SCRATCH", tmp_path)
    monkeypatch.setattr(module, "LOG", tmp_path / "setup.log")
    return module


def test_uv_installs_the_lock_from_the_index_of_pip(setup: ModuleType, tmp_path: Path) -> None:
    assert setup.installed_by_uv([tmp_path / "bin" / "pip"])
    asked = (tmp_path / "bin" / "asked").read_text()
    assert asked.startswith("uv==")
    assert asked.count("==") == 1
    assert "--hash=sha256:" in asked
    index, _, words = (tmp_path / "bin" / "asked-of-uv").read_text().partition(" ")
    assert index == "https://packages.example/simple"
    assert "--require-hashes" in words
    assert words.rstrip().endswith("requirements.lock")


@pytest.mark.parametrize("broken", ["pip", "uv"])
def test_pip_takes_over_where_uv_fails(setup: ModuleType, tmp_path: Path, broken: str) -> None:
    (tmp_path / "bin" / broken).write_text("#!/bin/sh\nexit 1\n")
    assert not setup.installed_by_uv([tmp_path / "bin" / "pip"])
