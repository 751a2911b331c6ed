"""The set-up installs the locked packages with uv, and with pip where uv fails."""

import importlib
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[1] / "tools"
PIP = """#!/bin/sh
here=$(dirname "$0")
[ "$1" = config ] && cat "$here/config" && exit
for word; do
    [ -f "$word" ] && cat "$word" > "$here/pip-$(basename "$word")"
done
exit 0
"""
UV = """#!/bin/sh
echo "$UV_DEFAULT_INDEX|$UV_FIND_LINKS|$SSL_CERT_FILE|$*" > "$(dirname "$0")/uv-asked"
"""
CONFIG = """\
:env:.index-url='https://env.example/simple'
:env:.find-links='/one /two'
global.cert='/global.pem'
global.index-url='https://global.example/simple'
install.cert='/install.pem'
wheel.index-url='https://wheel.example/simple'
"""


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    """The folder of an environment with scripts in place of pip and uv."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name, text in (("pip", PIP), ("uv", UV)):
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    (folder / "config").write_text(CONFIG)
    return folder


@pytest.fixture
def setup(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The program of the set-up, for the environment of `bin_folder`."""
    monkeypatch.syspath_prepend(str(TOOLS))
    steps, module = (importlib.import_module(name) for name in ("setup_steps", "setup"))
    monkeypatch.setattr(module, "VENV", bin_folder.parent)
    (bin_folder.parent / "tmp").mkdir()
    for of in (steps, module):
        monkeypatch.setattr(of, "SCRATCH", bin_folder.parent / "tmp")
        monkeypatch.setattr(of, "LOG", bin_folder.parent / "setup.log")
    return module


def test_pip_installs_uv_and_uv_installs_the_lock(setup: ModuleType, bin_folder: Path) -> None:
    setup.install_locked([bin_folder / "pip"])
    asked = (bin_folder / "pip-uv.txt").read_text()
    assert asked.startswith("uv==")
    assert asked.count("==") == 1
    assert "--hash=sha256:" in asked
    assert not (bin_folder / "pip-requirements.lock").exists()
    *_, words = (bin_folder / "uv-asked").read_text().split("|")
    assert {"--no-deps", "--require-hashes"} < set(words.split())
    assert any(word.endswith("/requirements.lock") for word in words.split())


def test_uv_has_the_configuration_of_pip(setup: ModuleType, bin_folder: Path) -> None:
    """An environment variable of pip counts more than a file, and another command's section does
    not count.
    """
    setup.install_locked([bin_folder / "pip"])
    given = (bin_folder / "uv-asked").read_text().split("|")[:3]
    assert given == ["https://env.example/simple", "/one,/two", "/install.pem"]


@pytest.mark.parametrize("mode", [0o755, 0o644])
def test_pip_installs_the_lock_where_uv_fails_or_cannot_start(
    setup: ModuleType, bin_folder: Path, mode: int, capsys: pytest.CaptureFixture[str]
) -> None:
    (bin_folder / "uv").write_text("#!/bin/sh\nexit 1\n")
    (bin_folder / "uv").chmod(mode)
    setup.install_locked([bin_folder / "pip"])
    lock = (TOOLS.parent / "requirements.lock").read_text()
    assert (bin_folder / "pip-requirements.lock").read_text() == lock
    assert "pip installs the packages" in capsys.readouterr().out


def test_a_failure_of_pip_ends_the_set_up_with_one_line(
    setup: ModuleType, bin_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (bin_folder / "pip").write_text("#!/bin/sh\necho ProxyError\nexit 1\n")
    with pytest.raises(SystemExit) as ended:
        setup.install_locked([bin_folder / "pip"])
    assert ended.value.code == 2
    assert capsys.readouterr().err.startswith("error: packages could not be downloaded")
