"""A scenario on the air: the course of its world, what it refuses, and a run beside simulations."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from halfway.cli import main
from halfway.live.air.namespaces import why_not
from halfway.problem import Problem
from halfway.scenario.build import prepared
from halfway.scenario.reading import read_scenario
from halfway.sim.environment.environment import Environment
from halfway.testbed.agreement import beside
from halfway.testbed.course import Course, Turn
from halfway.testbed.testbed_metrics import DELIVERY, METRICS, P50, RunMeasures
from halfway.testbed.unsupported import check_suitable, delay_of, limits_for
from halfway.world.faults import Crash, Fault, LinkCut, Partition
from halfway.world.graphs.network import Network
from tests.networks import from_links

WHY = "".join(why_not())
SCENARIO = """
system = "flooding"
seconds = 3
[network]
kind = "unit-disk"
n = 5
degree = 3.0
[radio]
kind = "ideal"
delay_s = 0.02
[workload]
subscribers_each = 2
events = 12
every_s = 0.15
start_s = 0.5
"""


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    path = tmp_path / "mesh.toml"
    path.write_text(SCENARIO)
    return path


def _course(network: Network, *faults: Fault) -> Course:
    return Course(Environment(
        network, None, faults, seed=1, seconds=10.0, discovery_delay_s=None
    ))  # fmt: skip


def _both(*links: tuple[int, int]) -> set[tuple[int, int]]:
    return {*links, *((b, a) for a, b in links)}


def test_a_world_that_does_not_change_has_no_steps() -> None:
    course = _course(from_links(3, [(0, 1), (1, 2)]))
    assert course.pairs() == _both((0, 1), (1, 2))
    assert list(course.steps(10.0)) == []


def test_a_crash_takes_all_links_of_a_node_and_gives_them_back() -> None:
    course = _course(
        from_links(3, [(0, 1), (1, 2)]), Crash(node=1, at=2.0, for_=3.0, memory="lost")
    )
    down, up = course.steps(10.0)
    assert (down.at, down.pairs, down.turns) == (2.0, frozenset(), (Turn(1, False, True),))
    assert down.up.tolist() == [True, False, True]  # also after the later steps were drawn
    assert up.at == 5.0
    assert up.pairs == _both((0, 1), (1, 2))
    assert up.turns == (Turn(1, True, False),)


def test_a_cut_link_and_a_partition_end_separately() -> None:
    course = _course(
        from_links(4, [(0, 1), (1, 2), (2, 3)]),
        LinkCut(a=0, b=1, at=1.0, for_=1.0), Partition(nodes=frozenset({0, 1}), at=4.0, for_=2.0),
    )  # fmt: skip
    steps = list(course.steps(10.0))
    assert [step.at for step in steps] == [1.0, 2.0, 4.0, 6.0]
    assert steps[0].pairs == _both((1, 2), (2, 3))
    assert steps[2].pairs == _both((0, 1), (2, 3))
    assert steps[1].pairs == steps[3].pairs == _both((0, 1), (1, 2), (2, 3))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"radio.kind": "contention"}, "radio.kind = contention"),
        ({"seconds": "5000"}, "seconds = 5000: expected at most 3600"),
        ({"hello_period_s": "0.01"}, "hello_period_s = 0.01: expected at least 0.05"),
        ({"power.battery_j": "5"}, "power.battery_j"),
        ({"workload": "requests"}, "applications in a test bed do not answer requests"),
        ({"faults": "attack"}, r"faults\[0\]: nodes of a test bed do not support attack"),
    ],
)
def test_what_the_air_cannot_do_is_refused(
    scenario: Path, changes: dict[str, str], message: str
) -> None:
    if "radio.kind" in changes:
        scenario.write_text(SCENARIO.replace('kind = "ideal"\ndelay_s = 0.02', 'kind="contention"'))
        changes = {}
    if "workload" in changes:
        groups = '[workload]\nkind = "groups"\nmembers_each = 2\n[workload.requests]\n'
        scenario.write_text(SCENARIO.partition("[workload]")[0] + groups)
        changes = {}
    if "faults" in changes:
        attack = '[[faults]]\nfault = "attack"\nkind = "black-hole"\nnode = 1\n'
        scenario.write_text(f"{scenario.read_text()}\n{attack}")
        changes = {}
    with pytest.raises(Problem, match=message):
        check_suitable(read_scenario(scenario, changes), "flooding")


def test_a_failure_detector_is_refused(scenario: Path) -> None:
    with pytest.raises(Problem, match=r"swim: expected a system that spreads events for a test"):
        check_suitable(read_scenario(scenario), "swim")


def test_a_system_whose_nodes_have_roles_is_refused(scenario: Path) -> None:
    with pytest.raises(Problem, match=r"siena: a test bed gives its nodes no roles"):
        check_suitable(read_scenario(scenario), "siena")


def test_limits_grow_with_the_degree_and_end() -> None:
    assert limits_for(100, 12).neighbours == 64
    assert limits_for(200, 90).neighbours == 90
    for n, degree in ((301, 10), (290, 280)):
        with pytest.raises(Problem, match="expected"):
            limits_for(n, degree)


def test_the_delays_of_a_radio_by_distance_are_those_of_its_links(scenario: Path) -> None:
    scenario.write_text(
        SCENARIO.replace('kind = "ideal"\ndelay_s = 0.02', 'kind = "distance"\nspeed = 10.0')
    )
    read = read_scenario(scenario)
    network = prepared(read).network
    assert network is not None
    assert network.position is not None
    delay = delay_of(read, network, 1)
    assert len(delay.pairs_s) == 2 * network.links
    for (a, b), seconds in delay.pairs_s.items():
        gap = float(np.hypot(*(network.position[a] - network.position[b])))
        assert seconds == pytest.approx(gap / 10.0, rel=1e-6)


def _measured(delivery: float, latency_s: float) -> RunMeasures:
    values = dict.fromkeys(METRICS, latency_s) | {DELIVERY: delivery}
    return RunMeasures(values, 10, 100, round(100 * delivery))


def test_delivery_agrees_within_the_interval_of_one_more_run_and_latency_by_a_factor() -> None:
    simulated = [_measured(share, 0.1) for share in (0.90, 0.92, 0.94)]
    agrees = {row.metric: row.agrees for row in beside(simulated, _measured(0.86, 0.19))}
    assert agrees[DELIVERY]
    assert agrees[P50]
    row = {row.metric: row for row in beside(simulated, _measured(0.80, 0.21))}
    assert row[DELIVERY].agrees is False
    assert row[P50].agrees is False
    # Student's t with 2 degrees of freedom, 4.303, times 0.02, times the root of 1 + 1/3.
    assert row[DELIVERY].low == pytest.approx(0.92 - 4.302653 * 0.02 * math.sqrt(4 / 3), abs=1e-6)
    assert row[DELIVERY].high == 1.0


@pytest.mark.skipif(bool(WHY), reason=f"no network namespaces: {WHY}")
@pytest.mark.parametrize(
    ("options", "security"),
    [([], "no keys, on an air that is sealed"), (["--keys"], "keys of network air")],
)
@pytest.mark.long
def test_a_scenario_runs_live_beside_its_simulation(
    scenario: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    options: list[str],
    security: str,
) -> None:
    records = tmp_path / "records"
    arguments = ["testbed", str(scenario), "--replicates", "2", "--record", str(records), *options]
    status = main([*arguments, "--json"])
    *rows, counts = map(json.loads, capsys.readouterr().out.splitlines())
    found = {row["metric"]: row for row in rows}
    assert found[DELIVERY]["live"] == found[DELIVERY]["simulated"] == 1.0
    assert found[P50]["live"] >= found[P50]["simulated"] * 0.95  # every hop waits in the queue
    assert counts["expected"] == counts["delivered"] == 24
    assert counts["replayed"] == counts["replayed_to_the_same_state"] == 5
    assert counts["air"]["lost"] == 0
    assert counts["security"] == security
    assert counts["queue"]["queued"] == counts["queue"]["passed on"] == counts["air"]["heard"]
    assert counts["accounted_for"], counts
    assert status == (0 if all(row["agrees"] is not False for row in rows) else 1)
    assert main(arguments) == 2  # the folder exists
    assert "choose another folder for --record" in capsys.readouterr().err
