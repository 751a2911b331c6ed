"""The change from one study to another: intervals, verdicts, changed fields, and the command."""

import json
import math
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from halfway.cli import main
from halfway.comparison.evaluation.change import changed_fields, changes
from halfway.comparison.evaluation.comparison_results import MeanInterval, Results
from halfway.pipeline.statistics.estimates import welch_interval
from halfway.problem import Problem
from halfway.report.comparison.comparison_files import read_results, write_results
from tests.report.comparison_specimens import results

BEFORE = results()


def with_energy(factor: float, system: str = "gossip") -> Results:
    """The study in which the energy of a system is multiplied."""
    cells = tuple(
        replace(
            cell, values=tuple(factor * one for one in cell.values),
            mean=MeanInterval(*(factor * one for one in (cell.mean.value, cell.mean.low,
                                                         cell.mean.high))),
        )
        if (cell.system, cell.metric) == (system, "energy") else cell
        for cell in BEFORE.cells
    )  # fmt: skip
    return replace(BEFORE, cells=cells)


def test_welch_agrees_with_a_table_and_counts_no_missing_value() -> None:
    """The interval equals that of scipy's t test with unequal variances (Welch 1947)."""
    from scipy.stats import ttest_ind

    generator = np.random.default_rng(3)
    before, after = generator.normal(5.0, 1.0, 8), generator.normal(6.0, 3.0, 5)
    found = welch_interval([*before, math.nan], after)
    known = ttest_ind(after, before, equal_var=False).confidence_interval(0.95)
    assert found == pytest.approx((after.mean() - before.mean(), known.low, known.high))
    assert welch_interval([0.9, 1.0], [0.2, 0.9], bounds=(-1.0, 1.0))[1] == -1.0
    assert math.isnan(welch_interval([1.0], [1.0, 2.0])[1])
    assert welch_interval([1.0, 1.0], [3.0, 3.0]) == (2.0, 2.0, 2.0)


def test_only_what_changed_clearly_is_better_or_worse() -> None:
    for factor, verdict in ((2.0, "worse"), (0.5, "better"), (1.0, "no clear change")):
        found = {(one.system, one.metric): one for one in changes(BEFORE, with_energy(factor))}
        assert found["gossip", "energy"].verdict == verdict
        others = [one for place, one in found.items() if place != ("gossip", "energy")]
        assert {one.verdict for one in others} == {"no clear change"}
        assert ("gossip", "recovery-time") not in found  # it has no value
    neither = replace(BEFORE, metrics=tuple(replace(one, better="") for one in BEFORE.metrics))
    assert "differs" in {one.verdict for one in changes(neither, replace(
        with_energy(2.0), metrics=neither.metrics))}  # fmt: skip


def test_points_of_a_sweep_are_matched_by_their_values() -> None:
    sweep = results(sweep=True)
    turned = replace(sweep, points=sweep.points[::-1])
    assert all(one.verdict == "no clear change" for one in changes(sweep, sweep))
    assert any(one.verdict != "no clear change" for one in changes(sweep, turned))
    assert changes(BEFORE, sweep) == []


def test_changed_fields_have_dotted_names() -> None:
    scenario = {"title": "a", "radio": {"success": 0.9, "kind": "ideal"}, "seconds": 60.0}
    other = {"title": "b", "radio": {"success": 0.8, "kind": "ideal"}, "window": 9}
    one, two = (replace(BEFORE, scenario=some) for some in (scenario, other))
    assert changed_fields(one, two) == {
        "radio.success": (0.9, 0.8), "seconds": (60.0, None), "window": (None, 9),
    }  # fmt: skip
    assert changed_fields(one, replace(one, seed=7)) == {"--seed": (one.seed, 7)}


def test_the_command_prints_and_refuses(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folders = [tmp_path / "old", tmp_path / "new"]
    for folder, study in zip(folders, (BEFORE, with_energy(2.0)), strict=True):
        folder.mkdir()
        write_results(folder, study)
    old, new = map(str, folders)
    assert main(["results", new, "--against", old]) == 0
    text = capsys.readouterr().out
    assert "the scenarios are equal" in text
    assert [line for line in text.splitlines() if line.startswith("gossip") and "worse" in line]
    assert "1 value changed clearly" in text
    assert main(["results", new, "--against", old, "--json"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    (row,) = [one for one in rows if one["verdict"] == "worse"]
    assert (row["system"], row["metric"]) == ("gossip", "energy")
    assert main(["results", new, "--against", str(tmp_path)]) == 2
    assert (
        "no comparison.json in this folder (name the folder of a study" in capsys.readouterr().err
    )


@pytest.mark.parametrize("text", ["", "[1]", "{", '{"title": 3}'])
def test_a_damaged_file_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "comparison.json").write_text(text)
    with pytest.raises(Problem, match=r"comparison.json: expected the results of a comparison"):
        read_results(tmp_path)


def test_results_come_back_as_they_were_written(tmp_path: Path) -> None:
    for sweep in (False, True):
        whole = results(sweep=sweep)
        write_results(tmp_path, whole)
        assert repr(read_results(tmp_path)) == repr(whole)
