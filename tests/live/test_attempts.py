"""Tests with live nodes have two attempts, and other tests have one."""

from types import SimpleNamespace
from typing import Any

import pytest

from tests.conftest import pytest_collection_modifyitems


def test_a_test_with_live_nodes_has_two_attempts(request: pytest.FixtureRequest) -> None:
    marker = request.node.get_closest_marker("flaky")
    assert marker is not None
    assert marker.kwargs["reruns"] == 1


def test_a_test_without_live_nodes_has_one_attempt(request: pytest.FixtureRequest) -> None:
    marked: list[object] = []
    tests = request.node.path.parents[1]
    other: Any = SimpleNamespace(path=tests / "core" / "test_clock.py", add_marker=marked.append)
    config: Any = SimpleNamespace(getoption=lambda _: True)
    pytest_collection_modifyitems(config, [other])
    assert marked == []
