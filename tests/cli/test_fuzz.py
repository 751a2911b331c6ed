"""Mutated scenario files, mutated network and movement files, hostile command lines.

Each of them ends in one of the documented exit statuses: no traceback, no internal error, no hang.
A few run by default, all of them with `--slow`.
"""

import contextlib
import json
import random
import signal
import types
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from halfway.cli import main
from halfway.cli.terminal.screen import USER_ERROR
from tests.scenario.test_mutations import SWEEP, mutated
from tests.world.importers.test_json_topology import ALFRED, NETJSON, OLSR, POINTS, VIS
from tests.world.importers.test_network_file import GRAPHML, PAIRS
from tests.world.mobility.test_trace_files import SCRIPT
from tests.world.mobility.test_track_formats import BONN, FCD, GPX, ONE

FOLDER = Path(__file__).parents[2] / "examples" / "scenarios"
LIMIT_S = 60.0  # a case takes far less than a second
SMALL = '[network]\nkind = "unit-disk"\nn = 12\ndegree = 6.0\n[workload]\nevents = 2\n'
FILES = {
    "links.csv": PAIRS, "mesh.graphml": GRAPHML, "tracks.gpx": GPX, "town.xml": FCD,
    "walk.one": ONE, "area.movements": BONN, "city.mob": SCRIPT,
    **{f"{name}.json": json.dumps(plain, indent=1) for name, plain in
       {"netjson": NETJSON, "olsr": OLSR, "vis": VIS, "alfred": ALFRED, "map": POINTS}.items()},
}  # fmt: skip
SIGNS = ["", "0", "-1", "1e999", "nan", '"', "<", ">", "}", "]", ",", "\0", "\xff", "é", "[" * 5000]
WORDS = [
    "", " ", "-", "--", "-h", "--json", "--seed", "--set", "--sweep", "--systems", "--system",
    "--out", "-o", "--from", "--to", "--over", "--quality", "--positions", "--radius", "--k",
    "--replicates", "--frob", "-1", "0", "nan", "inf", "1e999", "9" * 5000,
    "small.toml", "links.csv", "missing.toml", ".", "/", "/dev/null", "a=b", "=",
    "network.n=-1", "faults[9].at=1", "[[]]",
    "network=3", "x" * 300, "\x1b[2J", "é\u202e", "\ud800", "flooding", "flooding,,gossip", "drup",
    "unit-disk:n=9,r=0.9", "unit-disk:n=9", "unit-disk:", "../../etc", "half-width=2%", "*",
    "$(id)",
]  # fmt: skip
COMMANDS = ["simulate", "check", "init", "options", "walk", "schema", "results", "list", "", "-h"]


@contextlib.contextmanager
def limited() -> Iterator[None]:
    """Fail a case that hangs."""

    def ended(_signal: int, _frame: types.FrameType | None) -> None:
        pytest.fail(f"no end after {LIMIT_S:g} s")

    before = signal.signal(signal.SIGALRM, ended)
    signal.setitimer(signal.ITIMER_REAL, LIMIT_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def status(arguments: Sequence[str], capsys: pytest.CaptureFixture[str]) -> int:
    """The exit status of a command; an error is one line on stderr, and nothing on stdout."""
    with limited():
        found = main(arguments)
    printed = capsys.readouterr()
    assert found in (0, USER_ERROR), (arguments, printed.err)
    if found:
        lines = [line for line in printed.err.splitlines() if "cannot run here" not in line]
        assert len(lines) == 1, (arguments, printed.err)
        assert "Traceback" not in printed.err
    return found


def damaged(text: str, generator: random.Random) -> bytes:
    """A text with some bytes replaced, dropped, doubled or cut."""
    data = bytearray(text.encode())
    for _ in range(generator.randint(0, 3)):
        k = generator.randrange(len(data) + 1)
        match generator.randrange(6):
            case 4 | 5:  # another digit, which often leaves a valid file
                digits = [at for at, sign in enumerate(data) if chr(sign).isdecimal()] or [0]
                data[generator.choice(digits)] = ord(generator.choice("0123456789"))
            case 0:
                data[k : k + generator.randint(1, 9)] = b""
            case 1:
                data[k:k] = data[max(k - generator.randint(1, 40), 0) : k]
            case 2:
                data[k : k + 1] = generator.choice(SIGNS).encode()
            case _:
                del data[max(k, 1) :]
    return bytes(data)


COUNTS = [pytest.param(1, id="few"), pytest.param(20, id="all", marks=pytest.mark.slow)]


@pytest.mark.parametrize("times", COUNTS)
def test_a_thousand_mutated_scenarios(
    times: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for table in FOLDER.glob("*.csv"):
        (tmp_path / table.name).write_bytes(table.read_bytes())
    texts = [file.read_text("utf-8") for file in sorted(FOLDER.glob("*.toml"))]
    generator, good = random.Random(11), 0
    for k in range(50 * times):
        lines = (texts[k % len(texts)] + SWEEP * (k % 3 == 0)).splitlines()
        file = tmp_path / "scenario.toml"
        file.write_text("\n".join(mutated(lines, generator)), "utf-8")
        arguments = ["check", str(file), "--systems", "flooding", "--replicates", "1"]
        good += status(arguments, capsys) == 0
    assert 5 * times < good < 45 * times


@pytest.mark.parametrize("times", COUNTS)
def test_two_hundred_mutated_files(
    times: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    generator, found = random.Random(13), list[int]()
    out = tmp_path / "scenario.toml"
    for k in range(10 * times):
        name = list(FILES)[k % len(FILES)]
        (tmp_path / name).write_bytes(damaged(FILES[name], generator))
        out.unlink(missing_ok=True)
        found.append(status(["init", str(tmp_path / name), "-o", str(out)], capsys))
        if found[-1] == 0:
            arguments = ["check", str(out), "--systems", "flooding", "--replicates", "1"]
            assert status(arguments, capsys) == 0, name
    assert {0, USER_ERROR} == set(found)


@pytest.mark.parametrize("times", COUNTS)
def test_two_hundred_hostile_command_lines(
    times: int, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    generator, found = random.Random(17), list[int]()
    for k in range(10 * times):
        Path("small.toml").write_text(SMALL)
        Path("links.csv").write_text(PAIRS)
        words = [generator.choice(WORDS) for _ in range(generator.randint(0, 4))]
        first = ["small.toml"] if generator.random() < 0.4 else []
        found.append(status([COMMANDS[k % len(COMMANDS)], *first, *words], capsys))
    assert {0, USER_ERROR} == set(found)


@pytest.mark.parametrize("name", FILES)
def test_the_undamaged_files_are_read(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_text(FILES[name], "utf-8")
    out = str(tmp_path / "scenario.toml")
    assert status(["init", str(tmp_path / name), "-o", out], capsys) == 0
    assert status(["check", out, "--systems", "flooding"], capsys) == 0
