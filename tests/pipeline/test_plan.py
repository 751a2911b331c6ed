"""Plans: keys that name all that matters, seeds by axis, tasks of a size."""

import json
from collections import defaultdict

import numpy as np
import pytest

from halfway.pipeline.plan import by_network, plan, tasks, together
from halfway.pipeline.run import Point
from tests.pipeline.toys import points


def _rows(table):
    return table.to_pylist()


def test_systems_meet_the_same_networks_and_pairs_but_roll_their_own_dice():
    seeds = defaultdict(set)
    for row in _rows(plan(points(), 5)):
        n = json.loads(row["parameters"])["n"]
        for axis in ("network_seed", "workload_seed", "dice_seed", "network"):
            seeds[axis, n, row["replicate"]].add(row[axis])
    for (axis, _, _), found in seeds.items():
        assert len(found) == (2 if axis == "dice_seed" else 1), axis
    for axis in ("network_seed", "workload_seed", "dice_seed"):
        every = set().union(*(found for name, found in seeds.items() if name[0] == axis))
        assert len(every) == (20 if axis == "dice_seed" else 10)


def test_more_replicates_extend_a_plan_and_keep_its_first_rows():
    few, many = plan(points(), 3), plan(points(), 30)
    assert set(few["key"].to_pylist()) < set(many["key"].to_pylist())


def test_a_key_depends_on_parameters_seed_and_code(monkeypatch):
    first = plan(points()[:1], 1)["key"].to_pylist()
    assert first == plan(points()[:1], 1)["key"].to_pylist()
    assert first != plan(points(ms=1)[:1], 1)["key"].to_pylist()
    assert first != plan(points()[:1], 1, seed=1)["key"].to_pylist()
    assert first != plan(points("faulty")[:1], 1)["key"].to_pylist()
    monkeypatch.setattr("halfway.pipeline.plan.code_digest", lambda _: "edited")
    assert first != plan(points()[:1], 1)["key"].to_pylist()


def test_a_point_shared_by_two_figures_is_planned_once():
    assert plan([*points(), *points()], 4).num_rows == 16
    assert together([plan(points(), 4), plan(points()[:2], 6)]).num_rows == 20
    assert together([]).num_rows == 0


def test_a_point_with_two_ideas_of_its_network_is_refused():
    other = Point("tests.pipeline.toys:steps", {"n": 100, "system": "quick"}, ("system",))
    with pytest.raises(ValueError, match="is declared with networks"):
        plan([*points(), other], 1)


def test_tasks_hold_about_a_second_and_keep_a_network_together():
    planned = by_network(plan(points(ms=49), 40))  # 160 runs of 50 ms, 80 networks
    numbers = tasks(planned, task_seconds=1.0)
    assert numbers.max() + 1 == 8
    assert (np.diff(numbers) >= 0).all()
    sizes = np.bincount(numbers)
    assert sizes.max() <= 22
    homes = defaultdict(set)
    for network, number in zip(planned["network"].to_pylist(), numbers, strict=True):
        homes[network].add(number)
    assert all(len(found) == 1 for found in homes.values())


def test_a_network_too_heavy_for_a_task_is_cut():
    planned = by_network(plan([Point("m:f", {"n": 1, "k": k}, ("n",), 400) for k in range(10)], 1))
    assert (np.bincount(tasks(planned, task_seconds=1.0)) <= 3).all()


@pytest.mark.parametrize("count", [1, 3, 17])
def test_tasks_can_be_counted_out(count):
    numbers = tasks(by_network(plan(points(), 40)), count=count)
    assert set(numbers.tolist()) == set(range(count))
