"""Pytest configuration: hypothesis profiles, the `data` fixture, `--slow`, and the kernel cache.

Compiled kernels are kept in a cache separate from the user's: the tests define protocols and
radios, and a program without the tests could not read a cache that refers to them.
"""

import contextlib
import gc
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import hypothesis
import pytest

from tests.schedule import InPieces, piece, put_longest_first, workers, write_durations

# Before any import of a kernel, and once: child processes of the tests inherit it.
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"))  # noqa: PTH111
if _CACHE.name != "halfway-tests":
    os.environ["XDG_CACHE_HOME"] = str(_CACHE / "halfway-tests")

# Where Python may write no bytecode, each process of the tests would compile all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# Sessions use the archive of classes that a sweep of the user made before, which halves the start
# of a JVM. No session makes an archive in the background, which takes 20 s of CPU time.
os.environ["HALFWAY_CLASS_ARCHIVE"] = "use"
_ARCHIVES = _CACHE / "halfway-java"
_LINK = Path(os.environ["XDG_CACHE_HOME"]) / "halfway-java"
if _ARCHIVES.is_dir() and not _LINK.exists():
    with contextlib.suppress(OSError):  # another worker made the link
        _LINK.parent.mkdir(parents=True, exist_ok=True)
        _LINK.symlink_to(_ARCHIVES)

# Every simulation checks its records before a handler sees them.
os.environ["HALFWAY_CHECK_RECORDS"] = "1"

# Before any import of matplotlib: no test opens a window.
os.environ["MPLBACKEND"] = "Agg"

# Folders with tests of live nodes or clients in processes and threads of their own, which have the
# clock of the machine. On a busy machine, they may run too late. So such a test runs once more if
# it fails, and the last line of pytest counts it.
REAL_TIME = (
    "documentation", "examples", "live/air", "live/control", "live/interface", "live/monitoring",
    "live/mqtt", "testbed",
)  # fmt: skip
OFFSET_S = 100.0  # the greatest offset of the clocks of nodes in simulations of tests
DRIFT_PPM = 50.0  # their greatest drift
# Folders whose tests run whole studies as users do, where all nodes read the time of the run.
ONE_CLOCK = ("api", "bulk", "comparison", "papers", "pipeline", "report")

# `ci` draws the same examples every time and has no deadline: the first call may compile.
# `pytest --hypothesis-profile=dev` tests more, with new examples.
hypothesis.settings.register_profile("ci", deadline=None, derandomize=True, max_examples=50)
hypothesis.settings.register_profile("dev", deadline=None, max_examples=500)
hypothesis.settings.load_profile("ci")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option `--slow`, which also runs the tests that take minutes, and the option
    `--durations-file`.
    """
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")
    what = "write the seconds of each long file of tests, by which tests/schedule.py orders them"
    parser.addoption("--durations-file", metavar="FILE", type=Path, help=what)


class _Stopwatch:
    """The seconds of each piece of tests, which the process writes that has all reports."""

    def __init__(self, table: Path) -> None:
        self._table = table
        self._seconds: defaultdict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._seconds[piece(report.nodeid.partition("::")[0])] += report.duration

    def pytest_sessionfinish(self) -> None:
        write_durations(self._seconds, self._table)


def pytest_configure(config: pytest.Config) -> None:
    """Measure the tests where a file for their durations is named."""
    table = config.getoption("--durations-file")
    if table and not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Stopwatch(table))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """The number of workers of `-n auto`."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return workers(cores or 1, memory)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[object]:
    """Keep the garbage collector away from the modules and tests that the collection makes.

    These are millions of objects that live to the end. Each pass of the collector over all of them
    takes 0.7 s.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)  # before pytest selects by markers
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect slow tests unless requested. Tests with Spark's session are long. Workers side by
    side take long files first. Tests with live nodes have two attempts.
    """
    if not (config.getoption("--slow") or os.environ.get("HALFWAY_SLOW")):
        slow = [item for item in items if item.get_closest_marker("slow")]
        config.hook.pytest_deselected(items=slow)
        items[:] = [item for item in items if not item.get_closest_marker("slow")]
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)
        if _is_in(item, REAL_TIME):
            item.add_marker(pytest.mark.flaky(reruns=1, reruns_delay=1))
    if hasattr(config, "workerinput"):
        put_longest_first(items)


def _is_in(item: pytest.Item, folders: tuple[str, ...]) -> bool:
    """Return whether a test is below one of the folders in tests/."""
    folder = item.path.relative_to(Path(__file__).parent).parent
    return any(folder.is_relative_to(one) for one in folders)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Give each node of a test's simulations a clock with an offset and a drift of its own, of up
    to 100 s and 50 ppm.

    Handlers read no other clock, so a test with the same result proves that no record carries a
    time of a clock. Tests that read times in the state of nodes, or exact times of a run, are
    marked `one_clock`.
    """
    module: Any = sys.modules.get("halfway.sim.run_engine")  # None: no test imported it
    if module is None or _is_in(item, ONE_CLOCK) or item.get_closest_marker("one_clock"):
        return (yield)
    clocks_of = module.clocks_of
    usual = module.ClockErrors(offset_s=OFFSET_S, drift_ppm=DRIFT_PPM)
    with patch.object(module, "clocks_of", lambda errors, *of: clocks_of(errors or usual, *of)):
        return (yield)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> InPieces | None:
    """Distribute the tests as tests/schedule.py describes, if `--dist loadfile` is chosen."""
    return InPieces(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets in HALFWAY_DATA; tests that use it skip if it is not set."""
    named = os.environ.get("HALFWAY_DATA")
    if not named:
        pytest.skip("HALFWAY_DATA is not set: expected a folder of real data sets")
    folder = Path(named)
    if not folder.is_dir():
        pytest.fail(f"HALFWAY_DATA = {named}: expected a folder")
    return folder
