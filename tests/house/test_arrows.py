"""The arrows between rooms hold, and the readers that say so would notice if they did not."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.arrows import (
    FOLDERS,
    circles,
    crossed_arrows,
    crossed_folders,
    folder_circles,
    foreign_libraries,
    hidden_imports,
    unseeded_random_numbers,
    unused_rights,
)
from tests.house.sources import REPOSITORY


def package(root: Path, path: str, text: str) -> Path:
    """A repository under `root` with one more file of the package."""
    file = root / "src" / "halfway" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return root


def test_rooms_import_only_the_rooms_below() -> None:
    assert "\n".join(crossed_arrows(REPOSITORY)) == ""


def test_folders_import_only_the_folders_below() -> None:
    assert "\n".join(crossed_folders(REPOSITORY)) == ""


def test_no_folders_import_each_other() -> None:
    assert folder_circles(FOLDERS) == []


def test_no_modules_import_each_other() -> None:
    assert "\n".join(circles(REPOSITORY)) == ""


def test_no_import_is_for_a_side_effect_or_for_types_alone() -> None:
    assert "\n".join(hidden_imports(REPOSITORY)) == ""


def test_libraries_sockets_and_clocks_stay_in_their_rooms() -> None:
    assert "\n".join(foreign_libraries(REPOSITORY)) == ""


def test_no_room_may_import_what_it_does_not() -> None:
    assert "\n".join(unused_rights(REPOSITORY)) == ""


def test_no_random_numbers_without_a_seed() -> None:
    assert "\n".join(unseeded_random_numbers(REPOSITORY)) == ""


@pytest.mark.parametrize(
    ("path", "text", "line"),
    [
        ("core/plane.py", "import halfway.world.network", "1: core may not import world"),
        ("protocols/gossip.py", "\nfrom halfway import sim", "2: protocols may not import sim"),
        ("sim/a.py", "from halfway.protocols.gossip import x", "1: sim may not import protocols"),
        ("protocols/gossip.py", "from ..world import x", "1: protocols may not import world"),
        ("world/a.py", "def f():\n  import halfway.sim.engine", "2: world may not import sim"),
        ("sim/engine.py", "from halfway.pipeline.run import Run", "1: sim may not import pipeline"),
        ("pipeline/a/b.py", "from ...report import x", "1: pipeline may not import report"),
        ("report/page.py", "import_module('halfway.papers')", "1: report may not import papers"),
        ("papers/x.py", "from halfway.cli import main", "1: papers may not import cli"),
        ("live/node.py", "from halfway.sim.engine import run", "1: live may not import sim"),
        ("problem.py", "import halfway.core.dice", "1: problem may not import core"),
        ("package.py", "from halfway.problem import x", "1: package may not import problem"),
        ("sim/engine.py", "import halfway", "1: sim may not import __init__"),
        ("sim/engine.py", "from halfway import __version__", "1: sim may not import __init__"),
    ],
)
def test_an_arrow_against_the_grain_is_seen(
    tmp_path: Path, path: str, text: str, line: str
) -> None:
    assert crossed_arrows(package(tmp_path, path, text)) == [f"src/halfway/{path}:{line}"]


def test_an_unknown_room_is_seen(tmp_path: Path) -> None:
    root = package(tmp_path, "attic/box.py", "import halfway.core.dice")
    assert crossed_arrows(root) == [
        "src/halfway/attic/box.py: `attic` is not a room; tests/house/arrows.py lists them"
    ]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("papers/x/experiments.py", "from halfway.report.page import write"),
        ("cli.py", "from halfway.papers import x"),
        ("sim/engine.py", "from halfway.package import __version__\nfrom halfway import problem"),
        ("sim/engine.py", "from halfway.sim.meters import Meter"),
    ],
)
def test_an_arrow_with_the_grain_passes(tmp_path: Path, path: str, text: str) -> None:
    assert crossed_arrows(package(tmp_path, path, text)) == []


@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("sim/engine.py", "import pandas as pd", "pandas"),
        ("report/page.py", "from pyspark.sql import SparkSession", "pyspark"),
        ("papers/x.py", "import pyarrow.parquet", "pyarrow"),
        ("pipeline/page.py", "import altair as alt", "altair"),
        ("world/udg.py", "import matplotlib.pyplot", "matplotlib"),
        ("protocols/gossip.py", "from scipy import stats", "scipy"),
        ("core/dice.py", "import time", "time"),
        ("protocols/gossip.py", "from datetime import datetime", "datetime"),
        ("core/outbox.py", "import logging", "logging"),
        ("sim/radio.py", "import random", "random"),
        ("sim/engine.py", "import socket", "socket"),
        ("report/page.py", "from urllib.request import urlopen", "urllib"),
    ],
)
def test_a_library_in_the_wrong_room_is_seen(
    tmp_path: Path, path: str, text: str, name: str
) -> None:
    room = path.partition("/")[0]
    found = foreign_libraries(package(tmp_path, path, text))
    assert found == [f"src/halfway/{path}:1: {room} may not import {name}"]


def test_a_library_in_its_own_room_passes(tmp_path: Path) -> None:
    text = "import asyncio\nimport socket\nimport time\nfrom urllib.parse import urlsplit\n"
    assert foreign_libraries(package(tmp_path, "live/node.py", text)) == []


@pytest.mark.parametrize(
    ("path", "text", "what"),
    [
        ("core/dice.py", "x = np.random.default_rng(seed)", "np.random.default_rng"),
        ("protocols/a.py", "x = numpy.random.rand()", "np.random.rand"),
        ("world/udg.py", "np.random.seed(1)", "np.random.seed"),
        ("world/udg.py", "from numpy.random import PCG64, shuffle", "np.random.shuffle"),
        ("sim/engine.py", "x = np.random.default_rng()", "a generator without a seed"),
        ("sim/engine.py", "x = default_rng()", "a generator without a seed"),
    ],
)
def test_random_numbers_without_a_seed_are_seen(
    tmp_path: Path, path: str, text: str, what: str
) -> None:
    assert unseeded_random_numbers(package(tmp_path, path, text)) == [
        f"src/halfway/{path}:1: {what}"
    ]


def test_random_numbers_with_a_seed_pass(tmp_path: Path) -> None:
    text = "x = np.random.default_rng(seed)\ny = np.random.Philox(key=3)\n"
    assert unseeded_random_numbers(package(tmp_path, "world/udg.py", text)) == []


def test_the_command_line_starts_without_the_heavy_libraries() -> None:
    heavy = "numba scipy pandas pyarrow pyspark py4j altair matplotlib vl_convert"
    look = f"import sys, halfway.cli; print(sorted(sys.modules.keys() & set('{heavy}'.split())))"
    done = subprocess.run([sys.executable, "-c", look], capture_output=True, text=True, check=False)
    assert (done.stdout.strip(), done.stderr) == ("[]", "")


def test_an_unused_right_is_seen(tmp_path: Path) -> None:
    root = package(tmp_path, "protocols/gossip.py", "from halfway.core.dice import dice\n")
    assert unused_rights(root) == [
        "protocols may import numpy and does not", "protocols/. may import parts and does not",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("here", "there", "what"),
    [
        ("sim/engine/loop.py", "sim/radio/wired.py", "1: engine may not import radio"),
        ("protocols/drip/a.py", "protocols/walks/b.py", "1: drip may not import walks"),
        ("protocols/gossip.py", "protocols/walks/b.py", "1: . may not import walks"),
        ("pipeline/plan/sweep_plan.py", "pipeline/sweep.py", "1: plan may not import ."),
        ("live/mqtt/packets/a.py", "live/mqtt/b.py", "1: packets may not import ."),
        ("report/comparison/map/a.py", "report/comparison/b.py", "1: map may not import ."),
        ("live/mqtt/packets/a.py", "live/step/b.py", "1: mqtt may not import step"),
        ("sim/attic/box.py", "sim/simulation.py", ""),
    ],
)
def test_an_arrow_against_the_grain_inside_a_room_is_seen(
    tmp_path: Path, here: str, there: str, what: str
) -> None:
    module = f"halfway.{there.removesuffix('.py').replace('/', '.')}"
    package(package(tmp_path, there, ""), here, f"from {module} import x")
    expected = f"{here}:{what}" if what else (
        f"{here}: `sim/attic` is not a folder; tests/house/arrows.py lists them"
    )  # fmt: skip
    assert crossed_folders(tmp_path) == [f"src/halfway/{expected}"]


def test_an_arrow_with_the_grain_inside_a_room_passes(tmp_path: Path) -> None:
    package(tmp_path, "sim/engine/loop.py", "")
    package(tmp_path, "sim/radio/wired.py", "from halfway.sim.engine.loop import x")
    package(tmp_path, "sim/radio/csma.py", "from halfway.sim.radio import wired")
    assert crossed_folders(tmp_path) == []


def test_folders_that_may_import_each_other_are_seen() -> None:
    table = {"sim": {"a": {"b"}, "b": {"."}, ".": {"a"}, "c": {"a"}}, "sim/a": {"x": {"."}}}
    assert folder_circles(table) == ["sim: . a b"]


def test_a_circle_is_seen_even_through_a_third_module_and_inside_a_function(
    tmp_path: Path,
) -> None:
    package(tmp_path, "sim/a.py", "from halfway.sim.b import x")
    package(tmp_path, "sim/b.py", "def f():\n    from halfway.sim import c")
    package(tmp_path, "sim/c.py", "import halfway.sim.a")
    package(tmp_path, "sim/d.py", "import halfway.sim.a")
    assert circles(tmp_path) == ["halfway.sim.a halfway.sim.b halfway.sim.c"]


def test_a_module_that_imports_the_root_of_its_package_is_in_a_circle_with_it(
    tmp_path: Path,
) -> None:
    package(tmp_path, "__init__.py", "def f():\n    from halfway.api import a")
    package(tmp_path, "api/a.py", "from halfway import __version__")
    assert circles(tmp_path) == ["halfway halfway.api.a"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("from halfway.sim import air  # noqa: F401 - declares it", 1),
        ("if TYPE_CHECKING:\n    from halfway.sim import air", 2),
    ],
)
def test_a_hidden_import_is_seen(tmp_path: Path, text: str, number: int) -> None:
    line = text.splitlines()[number - 1].strip()
    found = hidden_imports(package(tmp_path, "sim/a.py", text))
    assert found == [f"src/halfway/sim/a.py:{number}: {line}"]


def test_libraries_for_types_alone_pass_and_the_command_line_starts_quickly(
    tmp_path: Path,
) -> None:
    package(tmp_path, "sim/a.py", "if TYPE_CHECKING:\n    import pandas")
    package(tmp_path, "cli/a.py", "if TYPE_CHECKING:\n    from halfway.sim import air")
    assert hidden_imports(tmp_path) == []
