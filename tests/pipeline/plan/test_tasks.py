"""Tasks of a sweep: their sizes, and the order of the rows."""

from collections import defaultdict

import numpy as np
import pytest

from halfway.pipeline.plan.run import Point
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.plan.tasks import by_network, guided, tasks
from tests.pipeline.toys import points


def test_tasks_keep_to_their_sizes_and_a_network_together():
    planned = by_network(plan(points(ms=49), 40))  # 160 runs of 50 ms, 80 networks
    numbers = tasks(planned, [1.0] * 8)
    assert (np.diff(numbers) >= 0).all()
    assert np.bincount(numbers).tolist() == [20] * 8
    homes = defaultdict(set)
    for network, number in zip(planned["network"].to_pylist(), numbers, strict=True):
        homes[network].add(number)
    assert all(len(found) == 1 for found in homes.values())


def test_a_network_too_heavy_for_a_task_is_cut():
    planned = by_network(plan([Point("m:f", {"n": 1, "k": k}, ("n",), 400) for k in range(10)], 1))
    assert (np.bincount(tasks(planned, [1.0] * 4)) <= 3).all()


@pytest.mark.parametrize("count", [1, 3, 17])
def test_tasks_can_be_counted_out(count):
    numbers = tasks(by_network(plan(points(), 40)), [1.0] * count)
    assert set(numbers.tolist()) == set(range(count))


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.4, 7.5, 30.0])
@pytest.mark.parametrize("workers", [1, 2, 64])
def test_tasks_grow_smaller_towards_the_end(seconds, workers):
    sizes = guided(seconds, workers)
    assert sum(sizes) == pytest.approx(seconds, abs=0.15) or not seconds
    assert sizes == sorted(sizes, reverse=True)
    assert max(sizes) <= 2.0
    assert sizes[-1] < 0.5 or not seconds


def test_the_first_rows_are_a_fair_sample():
    planned = by_network(plan(points(), 5)).to_pylist()
    assert [row["replicate"] for row in planned] == sorted(row["replicate"] for row in planned)
    assert [row["network"] for row in planned[:2]] == [planned[0]["network"]] * 2
    assert len({row["network"] for row in planned[:4]}) == 2
