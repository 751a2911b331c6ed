"""The measurement of failure detectors for paper 1, §2, on one random network."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from halfway.papers.directional_walks.detector_points import BROADCAST, GOSSIP
from halfway.pipeline.plan.run import Observations, Run
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, Pause
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.unit_disk import kept_draw
from halfway.world.workload.groups.monitoring import Monitoring

START_S, FAULTS_S, END_S = 30.0, 40.0, 160.0
_SHARE = 0.1  # of the nodes that die, or are slow
_SUCCESS = 0.9  # of a transmission, with loss
_DISCOVERY_S = 2.5  # until a node knows that a neighbour is gone
_RETRIES = 3
_BROADCAST_OPTIONS = {"fanout": -1, "timeout_s": 5.0}


def _faults(scenario: str) -> Sequence[Fault]:
    if scenario == "deaths":
        return [Crash(share=_SHARE, at=FAULTS_S)]
    if scenario == "slow nodes":
        return [Pause(share=_SHARE, at=FAULTS_S, for_=4.0, every_s=20.0)]
    return []


def detection(run: Run) -> Observations:
    """[drw §2] Measure a failure detector of directional walks, or a rival, on one network.

    detected: share of crashes and monitors. first, all: seconds from a crash until the first
    monitor, and until all monitors, suspect the member. mistakes: of one monitor about one member
    in an hour. wrong: share of the time in which a monitor suspects a member that is up. listed:
    share of the time in which it knows the member. messages: of a member in a second.
    """
    system, n = str(run["system"]), int(run["n"])
    options: Mapping[str, Any] = {}
    if "path" in system:
        options = {"refresh_s": run["refresh_s"], "retries": _RETRIES}
    elif system == BROADCAST:
        system, options = GOSSIP, _BROADCAST_OPTIONS
    with run.timed("network"):
        network = kept_draw(n, radius_of_degree(n, run["degree"]), run.network_seed).network
    success = _SUCCESS if run["scenario"] == "loss" else 1.0
    simulation = Simulation(
        system, network, workload=Monitoring(START_S), seconds=END_S, seed=run.workload_seed,
        radio=IdealRadio(delay_s=0.002, success=success), faults=_faults(str(run["scenario"])),
        discovery_delay_s=_DISCOVERY_S, options=options, stretch=False,
    )  # fmt: skip
    with run.timed("run"):
        outcome = simulation.run()
    detections = outcome.detection
    if detections is None:
        raise TypeError(f"{system} detects no failures")
    values = {
        "mistakes": detections.mistakes_per_hour,
        "wrong": 1.0 - detections.query_accuracy,
        "listed": detections.view_completeness,
        "messages": sum(outcome.sent.values()) / (n * END_S),
    }
    if detections.crashes:
        values |= {
            "detected": detections.detected_share,
            "first": detections.first_s,
            "all": detections.all_s,
        }
    return {name: np.array([value]) for name, value in values.items() if np.isfinite(value)}
