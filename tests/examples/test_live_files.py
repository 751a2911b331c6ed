"""The systemd unit and the Containerfile in examples/live: the commands in them exist, with their
options, and systemd reads the unit.
"""

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from halfway.cli import app
from tests.house.sources import REPOSITORY

FOLDER = REPOSITORY / "examples/live"
UNIT, CONTAINER = FOLDER / "halfway-node.service", FOLDER / "Containerfile"


def lines_of(path: Path) -> list[str]:
    """The lines of a file without comments; a line that ends with a backslash goes on."""
    text = "\n".join(
        line for line in path.read_text("utf-8").splitlines() if not line.startswith("#")
    )
    return [line.strip() for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def sections_of(path: Path) -> dict[str, dict[str, str]]:
    """The sections of a systemd unit; each key has one value."""
    found: dict[str, dict[str, str]] = {}
    for line in lines_of(path):
        if line.startswith("["):
            section = found.setdefault(line.strip("[]"), {})
            continue
        key, _, value = line.partition("=")
        assert key not in section, key
        section[key] = value
    return found


def instructions_of(path: Path) -> dict[str, list[str]]:
    """The arguments of each instruction of a Containerfile."""
    found: dict[str, list[str]] = {}
    for line in lines_of(path):
        name, _, arguments = line.partition(" ")
        found.setdefault(name, []).append(arguments.strip())
    return found


def parsed(words: list[str]) -> dict[str, object]:
    """The values of the options of a command line of `halfway`, as the command reads them."""
    program, name, *arguments = words
    assert Path(program).name == "halfway"
    commands: Any = get_command(app)
    return dict(commands.commands[name].make_context(name, arguments).params)


def container_node() -> list[str]:
    """The command line that a container starts."""
    found = instructions_of(CONTAINER)
    (entry,), (rest,) = found["ENTRYPOINT"], found["CMD"]
    words = json.loads(entry) + json.loads(rest)
    assert all(isinstance(word, str) for word in words)
    return list(words)


def unit_node() -> list[str]:
    """The command line that the unit starts."""
    return shlex.split(sections_of(UNIT)["Service"]["ExecStart"])


def test_the_unit_starts_a_node_whose_folders_systemd_makes() -> None:
    sections = sections_of(UNIT)
    assert list(sections) == ["Unit", "Service", "Install"]
    service = sections["Service"]
    given = parsed(unit_node())
    environment = dict(word.split("=", 1) for word in shlex.split(service["Environment"]))
    assert str(given["state"]) == f"/var/lib/{service['StateDirectory']}"
    assert environment["HALFWAY_RUN"] == f"/run/{service['RuntimeDirectory']}"
    assert environment["XDG_CACHE_HOME"] == f"/var/cache/{service['CacheDirectory']}"
    assert {str(given[name]) for name in ("certificate", "key", "revoked")} == {
        f"/etc/halfway/{name}" for name in ("node.cert", "node.key", "revoked.list")
    }


def test_the_container_starts_a_node_with_the_ports_that_it_opens() -> None:
    found = instructions_of(CONTAINER)
    given = parsed(container_node())
    opened = {
        f"{given['port']}/udp",
        *(str(given[name]).rpartition(":")[2] for name in ("mqtt", "metrics")),
    }
    assert set(found["EXPOSE"][0].split()) == opened
    assert [str(given["state"])] == found["VOLUME"]
    folders = shlex.split(found["RUN"][-1])
    assert {str(given["state"]), str(Path(str(given["mqtt_users"])).parent)} <= set(folders)


def test_the_check_of_the_container_is_a_command_that_exists() -> None:
    _, _, check = instructions_of(CONTAINER)["HEALTHCHECK"][0].partition(" CMD ")
    words = shlex.split(check)
    assert parsed(words[: words.index(">")])["as_json"] is True


@pytest.mark.parametrize("words", [unit_node(), container_node()], ids=["unit", "container"])
def test_a_wrong_option_in_these_files_would_be_noticed(words: list[str]) -> None:
    with pytest.raises(Exception, match="No such option: --no-such-option"):
        parsed([*words, "--no-such-option", "1"])
    with pytest.raises(Exception, match="'--host' requires an argument"):
        parsed([*words, "--host"])


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is missing")
def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    """The program of the unit need not be installed here, so another one has its place."""
    program = tmp_path / "halfway"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    text = UNIT.read_text("utf-8")
    copy = tmp_path / UNIT.name

    def problems(content: str) -> tuple[int, str]:
        copy.write_text(content)
        environment = os.environ | {"LC_ALL": "C", "SYSTEMD_LOG_LEVEL": "warning"}
        command = ["systemd-analyze", "verify", "--man=no", str(copy)]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, timeout=60, check=False
        )
        lines = [line for line in done.stderr.splitlines() if UNIT.name in line]
        return done.returncode, "\n".join(lines)

    installed = text.replace("/opt/halfway/bin/halfway", str(program))
    assert problems(installed) == (0, "")
    _, found = problems(installed.replace("RestartSec=1", "RestartSecs=1"))
    assert "RestartSecs" in found
