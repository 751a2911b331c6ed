"""Walks by topic deliver what a flat oracle asks for, over random histories of members and faults.

    python -m tests.protocols.walks.test_histories 0 10000

runs the histories of these seeds and prints each one that fails.
"""

import sys

import pytest

from tests.protocols.walks.histories import Result, result_of


def failure(seed: int, result: Result) -> str:
    """What a history did wrong; "" if nothing. Crashes may repeat deliveries of before a crash."""
    if result.missing or result.unasked:
        return f"seed {seed}: {result}"
    return ""


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_after_quiescence_each_event_reaches_each_subscriber_once(first: int) -> None:
    results = {seed: result_of(seed) for seed in range(first, first + 10)}
    assert sum(result.due for result in results.values()) > 20
    assert [line for seed, result in results.items() if (line := failure(seed, result))] == []


@pytest.mark.slow
def test_ten_thousand_histories() -> None:
    assert run(0, 10_000) == []


def run(first: int, last: int) -> list[str]:
    """The failures of the histories of these seeds."""
    return [line for seed in range(first, last) if (line := failure(seed, result_of(seed)))]


if __name__ == "__main__":
    sys.stdout.writelines(f"{line}\n" for line in run(int(sys.argv[1]), int(sys.argv[2])))
