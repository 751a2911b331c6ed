"""Plans: keys of all that determines a run, seeds by axis."""

import json
from collections import defaultdict

import pytest

from halfway.pipeline.plan.provenance import code_digest, sources_of
from halfway.pipeline.plan.run import Point
from halfway.pipeline.plan.sweep_plan import plan, together
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
