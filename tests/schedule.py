"""The order in which the workers of pytest-xdist take the files of tests.

A file is never divided, so that its tests share engines and fixtures. The files that use the Spark
session are one piece of work, so that one worker starts one JVM. The house tests are one piece, so
that one worker reads and parses all sources. The longest pieces go first: a long piece at the end
would run on one core, while the other core has nothing to do. `-n auto` starts one worker for each
core.
"""

import csv
import re
from collections import Counter
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parents[1]
SPARK, HOUSE = "Spark", "house"
MOST, EACH_WORKER_BYTES = 8, 1_500_000_000
# The measured seconds of the longest pieces. CONTRIBUTING.md has the command that writes it.
TABLE = ROOT / "tests" / "durations.csv"
LISTED_S, EACH_TEST_S = 1.5, 0.03  # the least in the table; the usual time of other tests
_USES_SPARK = re.compile(r"^def test_\w+\([^)]*\bspark\b", re.MULTILINE)


@cache
def piece(file: str) -> str:
    """The piece of work that contains a file of tests, a path from the root of the repository."""
    if file.startswith("tests/house/"):
        return HOUSE
    return SPARK if _USES_SPARK.search((ROOT / file).read_text("utf-8")) else file


@cache
def durations() -> dict[str, float]:
    """The seconds of the longest pieces, from the table."""
    rows = csv.reader(TABLE.read_text("utf-8").splitlines()[1:])
    return {name: float(seconds) for name, seconds in rows}


def write_durations(seconds: Mapping[str, float], table: Path) -> None:
    """Write the table: the pieces that took at least LISTED_S, the longest first."""
    longest = sorted(seconds.items(), key=lambda one: (-one[1], one[0]))
    rows = [f"{name},{value:.1f}\n" for name, value in longest if value >= LISTED_S]
    table.write_text("piece,seconds\n" + "".join(rows), "utf-8")


def put_longest_first(items: list[pytest.Item]) -> None:
    """Sort the collected tests by piece; the order inside a piece stays."""
    pieces = [piece(item.nodeid.partition("::")[0]) for item in items]
    seconds = {name: count * EACH_TEST_S for name, count in Counter(pieces).items()}
    seconds |= {name: value for name, value in durations().items() if name in seconds}
    keys = [(-seconds[name], name) for name in pieces]
    items[:] = [items[k] for k in sorted(range(len(items)), key=keys.__getitem__)]


def workers(cores: int, memory_bytes: int) -> int:
    """The number of workers on a machine: one for each core, as memory allows.

    With two for each core, tests of live nodes and browsers wait for cores, and their time-outs
    pass. More than MOST workers save nothing, because the longest piece then takes as long as all
    others together.
    """
    return max(1, min(cores, MOST, int(memory_bytes / EACH_WORKER_BYTES)))


class InPieces(LoadFileScheduling):
    """The scheduler of `--dist loadfile`, with this module's pieces in the order of the tests."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return piece(super()._split_scope(nodeid))
