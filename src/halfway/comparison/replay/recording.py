"""The replays of a comparison: the first replicate of each system, run again with a trace.

`python -m halfway.comparison.replay.recording FILE` records the replays that are on its stdin, and
writes them to the file.
"""

import contextlib
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import msgspec

from halfway.comparison.plan import SystemSource
from halfway.comparison.replay.replay import Replay, replay_of_scenario
from halfway.comparison.request import Request
from halfway.comparison.run_comparison import Completed
from halfway.pipeline.parent_process import end_with_parent, environment_with_imports
from halfway.scenario.build import network_of
from halfway.scenario.schema import FailureDetection, GroupWorkload, Scenario

MOST_NODES = 3000  # a page with a map of more nodes would be too large
_ALONE_S = 4.0  # seconds of replays for this process alone: another one takes a second to start
Progress = Callable[[int, int], None]  # systems traced, of how many
_Recorded = tuple[Scenario, SystemSource]  # the run of a replay


def record_replays(request: Request, completed: Completed, progress: Progress) -> list[Replay]:
    """Record a replay of each system that ran, at the first point.

    The list is empty for a network that is too large. It is also empty for failure detectors and
    groups, because a map shows events.
    """
    if isinstance(request.points[0].scenario.workload, FailureDetection | GroupWorkload):
        return []
    first = [run for run in completed.runs if (run.point, run.replicate) == (0, 0)]
    seeds = {run.system: run.seed for run in first if run.status == "ok"}
    scenario = request.points[0].scenario
    wanted = [
        (msgspec.structs.replace(scenario, seed=seeds[system.name]), system)
        for system in request.systems
        if system.name in seeds
    ]
    if not wanted or _nodes(wanted[0][0]) > MOST_NODES:
        return []
    replays: list[Replay] = []
    begun = time.monotonic()
    for number, order in enumerate(wanted):
        left = len(wanted) - number
        if number and (time.monotonic() - begun) / number * left > _ALONE_S and left > 1:
            with_number = partial(_further, progress, number, len(wanted))
            return replays + side_by_side(wanted[number:], os.cpu_count() or 1, with_number)
        progress(number, len(wanted))
        replays.append(_recorded(order))
    return replays


def _nodes(scenario: Scenario) -> int:
    network, motion = network_of(scenario)
    return network.n if network is not None else motion.n if motion is not None else 0


def _recorded(one: _Recorded) -> Replay:
    scenario, source = one
    return replay_of_scenario(scenario, source.system())


def _further(progress: Progress, before: int, total: int, done: int) -> None:
    progress(before + done, total)


def side_by_side(
    wanted: Sequence[_Recorded], cores: int, progress: Callable[[int], None]
) -> list[Replay]:
    """Record replays of a comparison in this process and in others, one for each core.

    progress: receives about how many are recorded.
    """
    count = min(cores, len(wanted))
    replays: dict[int, Replay] = {}
    with contextlib.ExitStack() as stack:
        shares = [range(k, len(wanted), count) for k in range(count)]
        others = [
            (share, stack.enter_context(_other([wanted[k] for k in share]))) for share in shares[1:]
        ]
        for k in shares[0]:
            progress(k)
            replays[k] = _recorded(wanted[k])
        for share, finished in others:
            # An error that ended the other process appears here, too.
            recorded = finished() or [_recorded(wanted[k]) for k in share]
            replays |= dict(zip(share, recorded, strict=True))
    return [replays[k] for k in range(len(wanted))]


@contextlib.contextmanager
def _other(wanted: Sequence[_Recorded]) -> Iterator[Callable[[], list[Replay]]]:
    """Start a process that records replays of a comparison; the end of the block kills it.

    Yields a function that waits for the replays. They are empty if the process failed.
    """
    with tempfile.TemporaryDirectory(prefix="halfway-") as folder:
        orders, file = Path(folder) / "given", Path(folder) / "replays"
        orders.write_bytes(pickle.dumps(list(wanted)))
        with (
            orders.open("rb") as stdin,
            subprocess.Popen(
                [sys.executable, "-P", "-m", "halfway.comparison.replay.recording", str(file)],
                stdin=stdin,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env=environment_with_imports(),
                start_new_session=True,  # Ctrl-C reaches this process, which ends it
            ) as process,
        ):

            def finished() -> list[Replay]:
                return pickle.loads(file.read_bytes()) if process.wait() == 0 else []

            try:
                yield finished
            finally:
                process.kill()


def main() -> None:
    """Record the replays on stdin, and write them to the file of the first argument."""
    end_with_parent()
    replays = [_recorded(one) for one in pickle.load(sys.stdin.buffer)]
    Path(sys.argv[1]).write_bytes(pickle.dumps(replays))


if __name__ == "__main__":
    main()
