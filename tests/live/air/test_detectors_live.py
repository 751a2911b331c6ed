"""The measurement of failure detectors live beside simulated: its faults, sums and table."""

import json
import os
import signal
from pathlib import Path

import pytest
from tools.live.detector_processes import DetectorProcesses, MemberReport, Signal
from tools.live.detectors_live import CRASH_S, detector_options, drawn, quality_of, simulated, table

from halfway.live.air.air import Air
from halfway.live.runtime.node_identity import drawn_id
from halfway.problem import Problem
from tests.live.air.test_air import on_air

N = 5
LINE = [(a, b) for a in range(N) for b in range(N) if abs(a - b) == 1]


def test_a_trial_has_the_same_faults_each_time_and_no_dead_node_pauses() -> None:
    trial = drawn(20, 3, 100.0, 5.0)
    again = drawn(20, 3, 100.0, 5.0)
    assert (trial.crashed, trial.pauses, trial.ids) == (again.crashed, again.pauses, again.ids)
    assert len(set(trial.crashed)) == 2
    assert len(trial.pauses) == 16  # two nodes each 10 s from 20 s to 95 s
    assert not {row for _, row in trial.pauses} & set(trial.crashed)
    assert drawn(20, 3, 100.0, 0.0).pauses == []


def test_live_reports_are_counted_as_those_of_a_simulated_run() -> None:
    trial = drawn(5, 1, 60.0, 0.0)
    (dead,) = trial.crashed
    others = [row for row in range(5) if row != dead]
    reports = [
        MemberReport(1.0, row, trial.ids[other], False)
        for row in range(5) for other in range(5) if other != row
    ]  # fmt: skip
    for delay, row in enumerate(others, start=1):
        reports.append(MemberReport(CRASH_S + delay, row, trial.ids[dead], True))
    wrong = trial.ids[others[1]]
    reports += [MemberReport(30.0, others[0], wrong, True),
                MemberReport(32.0, others[0], wrong, False)]  # fmt: skip
    found = quality_of(reports, trial, "swim", 60.0)
    assert (found["crashes"], found["mistakes"]) == (1, 1)
    assert (found["first_s"], found["all_s"], found["mistake_s"]) == (1.0, 4.0, 2.0)
    assert found["detected_share"] == 1.0
    same = simulated("heartbeat", {}, drawn(5, 1, 60.0, 0.0), 1, 0.0, 60.0)
    assert same.keys() == found.keys()
    assert (same["detected_share"], same["mistakes"]) == (1.0, 0)


def test_the_table_has_the_mean_and_the_range_of_each_way(tmp_path: Path) -> None:
    row = {"system": "swim", "options": {"period_s": 0.5}, "way": "live",
           "detected_share": 1.0, "first_s": None, "all_s": 2.0,
           "mistakes_per_hour": 0.0, "mistake_s": None, "query_accuracy": 1.0}  # fmt: skip
    rows = [row, row | {"all_s": 4.0, "first_s": 1.5}, row | {"way": "simulated"}]
    path = tmp_path / "a.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    *_, live, other = table(path)
    assert live.startswith(
        "| `swim period_s=0.5` | 2 live | 1.000 (1.000 to 1.000) | 1.5 (1.5 to 1.5) [1] |"
    )
    assert "| 3.0 (2.0 to 4.0) |" in live
    assert other.startswith(
        "| `swim period_s=0.5` | 1 simulated | 1.000 (1.000 to 1.000) | – | 2.0 (2.0 to 2.0)"
    )


def test_options_of_a_detector_are_numbers() -> None:
    assert detector_options(["timeout_s=8", "period_s = 0.5"]) == {
        "timeout_s": 8.0,
        "period_s": 0.5,
    }
    with pytest.raises(Problem, match="--option timeout_s = late: expected a number"):
        detector_options(["timeout_s=late"])


@on_air
@pytest.mark.slow
def test_killed_processes_on_the_air_are_suspected_and_paused_ones_come_back() -> None:
    options = {"period_s": 0.2, "timeout_s": 1.0}
    with Air(N) as air:
        air.set_links(LINE)
        with DetectorProcesses(air, "heartbeat", options, seed=4) as nodes:
            pids = list(nodes.pids.values())
            signals = [
                Signal(8.0, 4, signal.SIGKILL), Signal(8.0, 0, signal.SIGSTOP),
                Signal(11.0, 0, signal.SIGCONT),
            ]  # fmt: skip
            reports = list(nodes.run(signals, 15.0))
        for pid in pids:
            with pytest.raises(ProcessLookupError):
                os.kill(pid, 0)
    ids = [drawn_id(4, row) for row in range(N)]
    last = {(one.row, one.member): one.is_suspected for one in reports}
    for row in range(4):
        assert last[row, ids[4]]
        assert all(not last[row, ids[other]] for other in range(4) if other != row)
    paused = {one.row for one in reports if one.is_suspected and one.member == ids[0]}
    assert paused == {1, 2, 3}
    assert all(one.at > 8.0 for one in reports if one.is_suspected)
