"""Reproduction without Spark; test_sweep covers it with Spark."""

from pathlib import Path

import pytest

from halfway.pipeline.plan.run import Point
from halfway.pipeline.reproduction import reproduction_run
from halfway.pipeline.reproduction.figures import Figure, Paper


def test_drawings_alone_need_no_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_master: object) -> object:
        raise AssertionError("a session was opened without need")

    monkeypatch.setattr(reproduction_run.OnDemand, "get", refused)
    drawn = Figure(
        "figure-4", "A picture", lambda _: [], {"quick": 1}, lambda _: [], ("an interpretation",)
    )
    paper = Paper("a-paper", "A paper", "A. Author", 2013, (drawn,))
    result = reproduction_run.reproduce([(paper, drawn)], "quick", tmp_path / "runs")
    assert (result.verdicts, result.digest, result.report.made) == ([], "", 0)
    assert result.interpretations == {("a-paper", "figure-4"): ("an interpretation",)}


@pytest.mark.long
def test_a_resumed_reproduction_has_the_processor_time_of_all_runs(tmp_path: Path) -> None:
    points = [Point("tests.pipeline.toys:bulky", {"n": 4, "system": "a"}, ("n",), 1.0)]
    figure = Figure("figure-1", "Noise", lambda _: points, {"quick": 3}, lambda _: [], ())
    studied = [(Paper("a-paper", "A paper", "A. Author", 2013, (figure,)), figure)]
    store = tmp_path / "runs"
    first = reproduction_run.reproduce(studied, "quick", store, "local[1]")
    again = reproduction_run.reproduce(studied, "quick", store, "local[1]")
    assert (first.report.made, again.report.made) == (3, 0)
    assert again.processor_s == first.processor_s > 0.0
