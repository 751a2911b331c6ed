"""Tests with live nodes in other processes have two attempts, and other tests have one."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import pytest_collection_modifyitems

TESTS = Path(__file__).parent
CONFIG: Any = SimpleNamespace(getoption=lambda _: True)


@pytest.mark.parametrize(
    ("file", "reruns"),
    [("live/control/test_commands.py", [1]), ("live/mqtt/sessions/test_shares.py", [1]),
     ("live/keys/test_noise.py", []), ("core/test_bloom.py", []), ("test_files.py", [])],
)  # fmt: skip
def test_only_tests_with_other_processes_run_again(file: str, reruns: list[int]) -> None:
    markers: list[Any] = []
    item: Any = SimpleNamespace(path=TESTS / file, add_marker=markers.append)
    pytest_collection_modifyitems(CONFIG, [item])
    assert [one.mark.kwargs["reruns"] for one in markers] == reruns
