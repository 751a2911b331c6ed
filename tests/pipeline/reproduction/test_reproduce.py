"""Reproduction without Spark; test_sweep covers it with Spark."""

from pathlib import Path

import pytest

from halfway.pipeline.reproduction import reproduce as orchestration
from halfway.pipeline.reproduction.figures import Figure, Paper


def test_drawings_alone_need_no_spark(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_master: object) -> object:
        raise AssertionError("a session was opened without need")

    monkeypatch.setattr(orchestration.OnDemand, "get", refused)
    drawn = Figure(
        "figure-4", "A picture", lambda _: [], {"quick": 1}, lambda _: [], ("an interpretation",)
    )
    paper = Paper("a-paper", "A paper", "A. Author", 2013, (drawn,))
    result = orchestration.reproduce([(paper, drawn)], "quick", tmp_path / "runs")
    assert (result.verdicts, result.digest, result.report.made) == ([], "", 0)
    assert result.interpretations == {("a-paper", "figure-4"): ("an interpretation",)}
