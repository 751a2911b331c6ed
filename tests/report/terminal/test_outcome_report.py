"""The tables of one simulated run, in a terminal and in a notebook."""

import io
import json
import re
from typing import Any

import pytest
from rich.console import Console

import halfway
from halfway.report.notebook.notebook_tables import outcome_html
from halfway.report.terminal.outcome_report import outcome_json, print_outcome
from tests.house.sources import REPOSITORY

SCENARIOS = REPOSITORY / "examples" / "scenarios"
FEW = {"network.n": 4, "network.degree": 2, "seconds": 6, "faults": []}
_SOON = {"workload.start_s": 1, "workload.join_s": [0.0, 1.0]}


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


_OF_DETECTION = {
    "detected-share", "detection-first", "detection-all", "mistake-rate", "mistake-duration",
    "query-accuracy",
}  # fmt: skip
_OF_VIEWS = {
    "view-accuracy", "join-convergence", "leave-convergence", "crash-convergence", "newcomer-time",
    "converged-share",
}  # fmt: skip
_OF_REQUESTS = {
    "requests-served", "request-time", "fail-overs", "stale-replies", "stale-replicas",
    "messages-per-request",
}  # fmt: skip
_OF_MEMBERS = {
    "view-completeness", "messages-per-member", "bytes-per-member", "power-per-member",
    "max-load-per-member",
}  # fmt: skip


@pytest.mark.parametrize(
    ("scenario", "names", "changes"),
    [
        ("who-is-alive.toml", _OF_DETECTION, {}),
        ("who-is-in.toml", _OF_VIEWS, {"workload.members_each": 3} | _SOON),
        (
            "replicas.toml", _OF_VIEWS | _OF_REQUESTS,
            {"workload.members_each": 2, "workload.requests.clients_each": 2} | _SOON,
        ),
    ],
)  # fmt: skip
def test_the_object_of_a_run_has_the_metrics_of_members_by_their_names_in_comparisons(
    scenario: str, names: set[str], changes: dict[str, Any]
) -> None:
    system = "heartbeat" if "alive" in scenario else "flooding"
    outcome = halfway.simulate(SCENARIOS / scenario, system, set=FEW | changes)
    found = json.loads(outcome_json(outcome))
    assert set(found["member_metrics"]) == names | _OF_MEMBERS
    seconds = 6.0 * 4 if outcome.groups is None else outcome.groups.member_seconds
    each = {"messages": sum(outcome.sent.values()), "bytes": outcome.bytes_sent,
            "power": 1e3 * outcome.energy_j, "max-load": outcome.load.max}  # fmt: skip
    for name, amount in each.items():
        cost = found["member_metrics"][f"{name}-per-member"]
        assert cost == pytest.approx(amount / seconds)
        assert cost > 0.0


def test_a_run_of_events_has_no_metrics_of_members() -> None:
    few = {"workload.publishers_each": 1, "workload.subscribers_each": 2}
    outcome = halfway.simulate(SCENARIOS / "mesh-under-churn.toml", "flooding", set=FEW | few)
    assert "member_metrics" not in json.loads(outcome_json(outcome))
