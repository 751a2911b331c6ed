"""Plans: keys of all that determines a run, seeds by axis, sizes of tasks."""

import json
from collections import defaultdict

import numpy as np
import pytest

from halfway.pipeline.plan.provenance import code_digest, sources_of
from halfway.pipeline.plan.run import Point
from halfway.pipeline.plan.sweep_plan import by_network, guided, plan, tasks, together
from tests.pipeline.toys import points


def _rows(table):
    return table.to_pylist()


def test_systems_meet_the_same_networks_and_pairs_but_have_their_own_random_seeds():
    seeds = defaultdict(set)
    for row in _rows(plan(points(), 5)):
        n = json.loads(row["parameters"])["n"]
        for axis in ("network_seed", "workload_seed", "random_seed", "network"):
            seeds[axis, n, row["replicate"]].add(row[axis])
    for (axis, _, _), found in seeds.items():
        assert len(found) == (2 if axis == "random_seed" else 1), axis
    for axis in ("network_seed", "workload_seed", "random_seed"):
        every = set().union(*(found for name, found in seeds.items() if name[0] == axis))
        assert len(every) == (20 if axis == "random_seed" else 10)


def test_more_replicates_extend_a_plan_and_keep_its_first_rows():
    few, many = plan(points(), 3), plan(points(), 30)
    assert set(few["key"].to_pylist()) < set(many["key"].to_pylist())


def test_a_key_depends_on_parameters_seed_and_code(monkeypatch):
    first = plan(points()[:1], 1)["key"].to_pylist()
    assert first == plan(points()[:1], 1)["key"].to_pylist()
    assert first != plan(points(ms=1)[:1], 1)["key"].to_pylist()
    assert first != plan(points()[:1], 1, seed=1)["key"].to_pylist()
    assert first != plan(points("faulty")[:1], 1)["key"].to_pylist()
    monkeypatch.setattr("halfway.pipeline.plan.sweep_plan.code_digest", lambda _: "edited")
    assert first != plan(points()[:1], 1)["key"].to_pylist()


def test_an_edit_of_what_a_measurement_imports_makes_its_runs_anew(tmp_path, monkeypatch):
    study = tmp_path / "a_study"
    study.mkdir()
    files = {
        "__init__": "", "runs": "from a_study import near\nraise SystemExit", "other": "x = 1",
        "near": "from .far import x\nimport numpy, a_study.missing", "far": "x = 1",
    }  # fmt: skip
    for name, text in files.items():
        (study / f"{name}.py").write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    first = code_digest("a_study.runs:run")
    (study / "other.py").write_text("x = 2")
    assert code_digest("a_study.runs:run") == first
    (study / "far.py").write_text("x = 2")
    assert code_digest("a_study.runs:run") != first


def test_what_decides_a_comparisons_values_is_in_its_code():
    sources = set(sources_of("halfway.comparison.plan"))
    wanted = {"comparison.evaluation.metrics", "comparison.evaluation.recovery", "comparison.plan",
              "scenario.build", "scenario.reading", "scenario.schema"}  # fmt: skip
    assert {f"halfway.{name}" for name in wanted} <= sources
    assert not {name for name in sources if "notes" in name or "report" in name}


def test_a_point_shared_by_two_figures_is_planned_once():
    assert plan([*points(), *points()], 4).num_rows == 16
    assert together([plan(points(), 4), plan(points()[:2], 6)]).num_rows == 20
    assert together([]).num_rows == 0


def test_a_point_with_two_declarations_of_its_network_is_refused():
    other = Point("tests.pipeline.toys:steps", {"n": 100, "system": "quick"}, ("system",))
    with pytest.raises(ValueError, match="is declared with networks"):
        plan([*points(), other], 1)


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
