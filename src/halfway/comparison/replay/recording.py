"""The replays of a comparison: the first replicate of each system, run again with a trace."""

from collections.abc import Callable

import msgspec

from halfway.comparison.replay.replay import Replay, replay_of_scenario
from halfway.comparison.request import Request
from halfway.comparison.run_comparison import Completed
from halfway.scenario.build import network_of
from halfway.scenario.schema import FailureDetection, GroupWorkload

MOST_NODES = 3000  # a page with a map of more nodes would be too large
Progress = Callable[[int, int], None]  # systems traced, of how many


def record_replays(request: Request, completed: Completed, progress: Progress) -> list[Replay]:
    """Record a replay of each system that ran, at the first point.

    The list is empty for a network that is too large. It is also empty for failure detectors and
    groups, because a map shows events.
    """
    if isinstance(request.points[0].scenario.workload, FailureDetection | GroupWorkload):
        return []
    first = [run for run in completed.runs if (run.point, run.replicate) == (0, 0)]
    seeds = {run.system: run.seed for run in first if run.status == "ok"}
    replays: list[Replay] = []
    for one in request.systems:
        if one.name not in seeds:
            continue
        progress(len(replays), len(seeds))
        scenario = msgspec.structs.replace(request.points[0].scenario, seed=seeds[one.name])
        network, motion = network_of(scenario)
        n = network.n if network is not None else motion.n if motion is not None else 0
        if n > MOST_NODES:
            return []
        replays.append(replay_of_scenario(scenario, one.system()))
    return replays
