"""Metrics over time: bins, values of a run, means over networks, and rows."""

import math
from pathlib import Path

import numpy as np
import pytest

from halfway.comparison.evaluation.cell_statistics import FinishedRun, timelines_of_runs
from halfway.comparison.evaluation.metrics import observations
from halfway.comparison.evaluation.timelines import BINS, OVER_TIME, decoded, encoded
from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.demand import Listed
from tests.comparison.scenarios import written
from tests.networks import line

RATIO, LATENCY_P50, MESSAGES = OVER_TIME


def test_a_crash_shows_in_the_bins_of_its_time() -> None:
    demand = Listed([(2, 0)], [(k + 0.5, 0, 0) for k in range(50)])
    run = Simulation("flooding", line(3), workload=demand, seconds=60.0,
                     faults=[Crash(node=1, at=10.0, for_=20.0)])  # fmt: skip
    observed = observations(run)
    ratio, latency, messages = (decoded(observed, metric) for metric in OVER_TIME)
    assert ratio[:10].tolist() == [1.0] * 10
    assert ratio[10:30].tolist() == [0.0] * 20
    assert ratio[30:50].tolist() == [1.0] * 20
    assert np.isnan(ratio[50:]).all()
    assert latency[0] == pytest.approx(0.028)  # two hops of 4 ms, each after a delay of 10 ms
    assert np.isnan(latency[10:30]).all()
    assert messages.tolist() == [3.0] * 10 + [1.0] * 20 + [3.0] * 20 + [0.0] * 10


def test_a_look_at_each_bin_changes_no_run(tmp_path: Path) -> None:
    scenario = read_scenario(written(tmp_path))
    for system in ("flooding", "gossip"):
        looked, whole = (simulation_of(scenario, system=system) for _ in range(2))
        observed = observations(looked)
        assert looked.outcome().digest == whole.run().digest
        sent = float(sum(whole.outcome().sent.values()))
        width = scenario.seconds / BINS
        assert decoded(observed, MESSAGES).sum() * width == pytest.approx(sent)


def test_missing_bins_survive_as_observations() -> None:
    column = np.full(BINS, np.nan)
    column[[3, 7]] = 0.5, 0.25
    observed = encoded({RATIO: column}, 7.3)
    assert all(np.isfinite(values).all() for values in observed.values())
    again = decoded({name: tuple(values) for name, values in observed.items()}, RATIO)
    assert np.array_equal(again, column, equal_nan=True)


def test_means_are_over_the_networks_that_have_a_value() -> None:
    one, other = np.full((2, BINS), np.nan)
    one[:2], other[1] = (0.2, 0.4), 0.8
    observed = [encoded({RATIO: column}, 30.0) for column in (one, other)]
    runs = [
        FinishedRun(0, "gossip", k, 1, "ok", "", "",
                    {name: tuple(values) for name, values in found.items()})
        for k, found in enumerate(observed)
    ]  # fmt: skip
    (line_of,) = timelines_of_runs(runs, [30.0])
    assert (line_of.system, line_of.metric, line_of.seconds) == ("gossip", RATIO, 30.0)
    assert line_of.mean[:2] == pytest.approx((0.2, 0.6))
    assert line_of.networks[:3] == (1, 2, 0)
    assert math.isnan(line_of.mean[2])
