"""The order of the tests on several workers: Spark's files together, long pieces first."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.schedule import (
    HOUSE,
    ROOT,
    SPARK,
    TABLE,
    durations,
    piece,
    put_longest_first,
    workers,
    write_durations,
)


def items(*files: str) -> list[Any]:
    """Collected tests of files, two of each."""
    return [SimpleNamespace(nodeid=f"{file}::test_{k}[a::b]") for file in files for k in (0, 1)]


def test_the_files_that_use_the_spark_session_are_one_piece() -> None:
    sweep, source = "tests/pipeline/test_sweep.py", "tests/comparison/test_spark_source.py"
    assert piece(sweep) == piece(source) == SPARK
    judge = "tests/pipeline/reproduction/test_judge.py"
    assert piece(judge) == judge


def test_the_house_tests_are_one_piece() -> None:
    assert piece("tests/house/test_style.py") == piece("tests/house/test_words.py") == HOUSE


def test_the_longest_pieces_are_first_then_those_of_most_tests() -> None:
    few, many, sweep = (f"tests/{one}.py" for one in ("test_files", "api/test_pages",
                                                      "pipeline/test_sweep"))  # fmt: skip
    long = list(durations())[-1]
    given = [*items(few, many, long, sweep), *items(many)]
    put_longest_first(given)
    assert not {few, many} & durations().keys()
    files = [item.nodeid.partition("::")[0] for item in given]
    assert files == [sweep] * 2 + [long] * 2 + [many] * 4 + [few] * 2
    assert given[4:6] == items(many)  # their order stays


def test_the_longest_pieces_exist() -> None:
    files = [one for one in durations() if one not in (SPARK, HOUSE)]
    assert [one for one in files if not (ROOT / one).is_file()] == []
    assert list(durations().values()) == sorted(durations().values(), reverse=True)


def test_the_table_has_the_long_pieces_only(tmp_path: Path) -> None:
    write_durations({"short": 1.4, "long": 1.5, SPARK: 80.04}, tmp_path / "table")
    assert (tmp_path / "table").read_text().splitlines() == [
        TABLE.read_text().splitlines()[0], "Spark,80.0", "long,1.5",
    ]  # fmt: skip


def test_workers_are_one_for_each_core_as_memory_allows() -> None:
    gigabyte = 10**9
    assert workers(2, 16 * gigabyte) == 2
    assert workers(4, 4 * gigabyte) == 2
    assert workers(1, gigabyte) == 1
    assert workers(64, 512 * gigabyte) == 8
