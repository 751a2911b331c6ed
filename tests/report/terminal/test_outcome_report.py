"""The tables of one simulated run, in a terminal and in a notebook."""

import io
import re
from typing import Any

import pytest
from rich.console import Console

import halfway
from halfway.report.notebook.notebook_tables import outcome_html
from halfway.report.terminal.outcome_report import print_outcome
from tests.house.sources import REPOSITORY

SCENARIOS = REPOSITORY / "examples" / "scenarios"
FEW = {"network.n": 4, "network.degree": 2, "seconds": 6, "faults": []}


def shown(scenario: str, system: str, changes: dict[str, Any]) -> tuple[dict[str, str], str]:
    """A run on four nodes: the name of a printed row -> its value, and the notebook's table."""
    outcome = halfway.simulate(SCENARIOS / scenario, system, set=FEW | changes)
    text = io.StringIO()
    print_outcome(Console(file=text, width=100), outcome)
    rows = [re.split(r"  +", line.strip()) for line in text.getvalue().splitlines()]
    return {row[0]: row[1] for row in rows if len(row) > 1}, outcome_html(outcome)


def test_a_failure_detector_has_its_metrics_and_no_notification() -> None:
    rows, table = shown("who-is-alive.toml", "heartbeat", {"workload.start_s": 5})
    assert (rows["query accuracy"], rows["detected share"], rows["view completeness"]) == (
        "1", "–", "1",
    )  # fmt: skip
    # A heartbeat of each member each second, which each node floods.
    assert float(rows["messages / member"]) == pytest.approx(4.0, rel=0.3)
    assert not {"delivery ratio", "latency [s]", "view accuracy"} & set(rows)
    assert "query accuracy" in table
    assert "delivery ratio" not in table


def test_groups_have_their_metrics_beside_the_notifications() -> None:
    members = {"members_each": 3, "start_s": 1, "join_s": [0.0, 1.0], "stay_s": 1000}
    changes = {f"workload.{name}": value for name, value in members.items()}
    rows, table = shown("who-is-in.toml", "flooding", changes)
    assert float(rows["view accuracy"]) == 1.0
    assert "delivery ratio" in rows
    assert "query accuracy" not in rows
    assert "view accuracy" in table
    assert "delivery ratio" in table
