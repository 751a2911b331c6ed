"""The trial of a user's protocol: a short interpreted run with bounds checks, in its own process.

Compiled code checks no bounds, and Ctrl-C does not end a loop in it. So a file that this machine
has not run yet first runs interpreted, on a few nodes. A mark in the cache records that the file
passed.

`python -m halfway.comparison.trial` makes the trial of the plan row on its stdin.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import FrameType

import msgspec

from halfway.adapters.user_errors import user_errors
from halfway.comparison.plan import SystemSource, point_of, scenario_of, source_of
from halfway.core.compiled import sources_digest
from halfway.core.compiler.cache import CACHE_FOLDER
from halfway.core.values.digest import short_digest
from halfway.package import PACKAGE_FOLDER
from halfway.pipeline.parent_process import end_with_parent, known_parent
from halfway.pipeline.plan.sweep_plan import plan
from halfway.problem import Problem
from halfway.scenario.build import simulation_of
from halfway.scenario.schema import (
    AnyWorkload,
    FailureDetection,
    GroupWorkload,
    Scenario,
    UnitDisk,
    Workload,
)
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation

_NODES, _DEGREE, _SECONDS, _EVENTS = 24, 8.0, 60.0, 12
_MOST_RECORDS = 60_000
_MOST_CPU_S = 30.0  # of a trial, which then passes
_HANDLER_CPU_S = 2.0  # of one record, which takes about 0.1 ms
_WALL_S = 300.0  # of a process that does not even start, or prints without end


def try_first(scenario: Scenario, systems: Sequence[SystemSource]) -> None:
    """Make the trial of each user's protocol that has not passed on this machine.

    Raises Problem with file, line and cause if a protocol fails, or does not end.
    """
    for source in systems:
        mark = _mark(scenario, source)
        if not source.text or mark.exists():
            continue
        row = plan([point_of(scenario, source)], 1).to_pylist()[0]
        process = started("halfway.comparison.trial", row, NUMBA_DISABLE_JIT="1")
        with process:
            try:
                answer, _ = process.communicate(timeout=_WALL_S)
            except subprocess.TimeoutExpired:
                what = f"the trial run did not end within {_WALL_S:g} s"
                raise Problem(what, where=source.name, remedy="look for an endless loop") from None
            finally:
                process.kill()
        check_answer(answer, process.returncode, source)
        mark.touch()


def _mark(scenario: Scenario, one: SystemSource) -> Path:
    options = json.dumps(scenario.options.get(one.name, {}), sort_keys=True)
    words = f"{sources_digest()} {one.name} {options} {one.text}"
    return CACHE_FOLDER / f"tried-{short_digest(words)}"


def started(module: str, row: object, **environment: str) -> "subprocess.Popen[str]":
    """Return a Python process that runs a module with a trial's plan row on its stdin.

    The process imports nothing from the current folder.
    """
    package = str(PACKAGE_FOLDER.parent)
    path = os.pathsep.join(filter(None, (package, os.environ.get("PYTHONPATH"))))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", module],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | environment | known_parent() | {"PYTHONPATH": path},
        start_new_session=True,  # Ctrl-C reaches this process, which ends them
    )
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):  # the process died, which the caller reports
        process.stdin.write(json.dumps(row))
        process.stdin.close()
    process.stdin = None
    return process


def check_answer(answer: str, status: int, system: SystemSource) -> None:
    """Raise the Problem that a user protocol's trial wrote to stdout, or a Problem about its
    death.
    """
    if answer.strip():
        parsed = json.loads(answer)
        raise Problem(parsed["what"], where=parsed["where"], remedy=parsed["remedy"])
    if status != 0:
        what = f"the process of the trial run died (exit status {status})"
        remedy = "`halfway simulate` with --debug runs the file interpreted"
        raise Problem(what, where=system.name, remedy=remedy)


@contextlib.contextmanager
def answering() -> Iterator[None]:
    """Write a Problem of the block as the answer of a trial's process; other output to stderr."""
    stdout = os.dup(1)
    os.dup2(2, 1)  # what a protocol prints
    try:
        yield
    except Problem as problem:
        words = {"what": problem.what, "where": problem.where, "remedy": problem.remedy}
        os.write(stdout, json.dumps(words).encode())


def small(scenario: Scenario) -> Scenario:
    """Return the scenario of a trial: a few nodes and events, with the user's options."""
    width = scenario.workload.width if isinstance(scenario.workload, Workload) else 1
    workload: AnyWorkload = Workload(
        topics=2, publishers_each=2, subscribers_each=6, events=_EVENTS, width=width
    )
    if isinstance(scenario.workload, FailureDetection):
        members = scenario.workload.members
        count = len(members) if isinstance(members, list) else members
        few = None if count is None else min(count, _NODES)
        workload = msgspec.structs.replace(scenario.workload, members=few)
    if isinstance(scenario.workload, GroupWorkload):
        workload = GroupWorkload(members_each=6)
    return msgspec.structs.replace(
        scenario,
        network=UnitDisk(n=_NODES, degree=_DEGREE),
        radio=IdealRadio(),
        faults=[],
        seconds=min(scenario.seconds, _SECONDS),
        workload=workload,
        stretch=False,
        power=msgspec.structs.replace(scenario.power, battery_j=None),
        hello="given",
    )


def main() -> None:
    """Make a trial in this process: the plan row is on stdin; a Problem goes to stdout."""
    end_with_parent()
    with answering():
        row = json.load(sys.stdin)
        parameters = json.loads(row["parameters"])
        source = source_of(parameters)
        with user_errors(*source):
            try:
                run = simulation_of(
                    small(scenario_of(parameters, row["network_seed"])), system=source.system()
                )
            except Problem:  # the system needs other nodes than those of a trial
                return
            with watched(run):
                run.run(records=_MOST_RECORDS, stop=lambda _: time.process_time() > _MOST_CPU_S)


@contextlib.contextmanager
def watched(run: Simulation) -> Iterator[None]:
    """Interrupt a handler of a user's protocol that does not return, in a trial or another
    interpreted run.

    The timer stops at the end of the block: it would end a process that is about to exit.
    """
    seen = [-1, 0]  # records delivered, and seconds since

    def tick(_number: int, _frame: FrameType | None) -> None:
        delivered = int(run.engine.counters.handled[0])
        seen[:] = [delivered, seen[1] + 1 if delivered == seen[0] else 0]
        if seen[1] >= _HANDLER_CPU_S:
            raise TimeoutError(f"the handler did not return within {_HANDLER_CPU_S:g} s")

    before = signal.signal(signal.SIGVTALRM, tick)
    signal.setitimer(signal.ITIMER_VIRTUAL, 1.0, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, before)


if __name__ == "__main__":
    main()
