"""The warning that compiled code is not kept: an unwritable folder, or a full disk."""

import shutil
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from halfway.cli.terminal.screen import warn_of_cache

MODULE = "halfway.core.compiler.cache"


def warned(
    folder: Path, free: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> str:
    """What the command prints on stderr about a cache folder on a disk with so much free space."""
    monkeypatch.setitem(sys.modules, MODULE, SimpleNamespace(CACHE_FOLDER=folder))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=free))
    warn_of_cache()
    return capsys.readouterr().err


def test_a_cache_that_keeps_no_code_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert warned(tmp_path, 1 << 30, monkeypatch, capsys) == ""
    full = warned(tmp_path, 4096, monkeypatch, capsys)
    assert full.startswith(
        f"halfway: {tmp_path}: the disk has less than 16 MiB of free space: compiled code is not "
    )
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    away = warned(tmp_path / "halfway-cache-x", 1 << 30, monkeypatch, capsys)
    assert away.startswith("halfway: /proc/nowhere/halfway: cannot be written: compiled code")
    assert away.endswith("(set XDG_CACHE_HOME to a writable folder with free space)\n")


def test_a_command_that_compiles_nothing_says_nothing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    warn_of_cache()
    assert capsys.readouterr().err == ""
