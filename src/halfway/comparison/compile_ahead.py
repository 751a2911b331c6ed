"""Compile systems before the sweep, one a core, if they never ran on this machine.

A sweep would compile them one after the other while the other cores wait. Here each system runs
once in a process of its own. Its machine code stays in the cache, where a mark records it.

`python -m halfway.comparison.compile_ahead` begins the run of the plan row on its stdin.
"""

import hashlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from halfway.comparison.plan import SystemSource, point_of, scenario_of, source_of
from halfway.core.compiler.cache import CACHE_FOLDER
from halfway.pipeline.plan.plan import plan
from halfway.pipeline.plan.run import one_line
from halfway.problem import Problem
from halfway.scenario.build import prepared, simulation_on
from halfway.scenario.schema import Recorded, Scenario, Waypoint
from halfway.scenario.sweep import ScenarioPoint

_POLL_S = 0.1
_FEW = 100  # records: enough to call every kernel of a run
# The compiler's position in the user's file; the sentence before it is the error.
_AT = re.compile(r'\n[ \t]*File "[^"]*own-[0-9a-f]{16}/([^"/]+)", line (\d+)')
_LONGEST = 200
Progress = Callable[[int, int], None]  # systems compiled, of how many


def compile_first(
    points: Sequence[ScenarioPoint], systems: Sequence[SystemSource], cores: int,
    progress: Progress | None,
) -> None:  # fmt: skip
    """Compile ahead the systems never compiled on this machine, `cores` at a time.

    Raises Problem if a user system cannot be compiled, or fails at once. Failures of built-in
    systems are left to the sweep, which keeps them as rows.
    """
    waiting = {
        mark: (point.scenario, one)
        for point in points
        for one in systems
        if not (mark := _mark(point.scenario, one)).exists()
    }
    total, running = len(waiting), list[tuple[Path, SystemSource, subprocess.Popen[str]]]()
    try:
        while waiting or running:
            if progress is not None:
                progress(total - len(waiting) - len(running), total)
            while waiting and len(running) < cores:
                mark, (scenario, one) = waiting.popitem()
                running.append((mark, one, _started(scenario, one)))
            time.sleep(_POLL_S)
            for ended in [one for one in running if one[2].poll() is not None]:
                running.remove(ended)
                _check(*ended)
    finally:
        for _, _, process in running:
            with process:  # waits, and closes its pipes
                process.kill()


def _mark(scenario: Scenario, one: SystemSource) -> Path:
    """The file that marks a system as compiled ahead for such a radio and such nodes."""
    radio = scenario.radio
    losses = getattr(radio, "success", 1.0) < 1.0 or getattr(radio, "ratios", None) is not None
    static = not isinstance(scenario.network, Waypoint | Recorded)
    words = f"{one.name} {one.text} {radio.__struct_config__.tag} {losses} {static}"
    return CACHE_FOLDER / f"compiled-{hashlib.sha256(words.encode()).hexdigest()[:16]}"


def _started(scenario: Scenario, one: SystemSource) -> "subprocess.Popen[str]":
    row = plan([point_of(scenario, one)], 1).to_pylist()[0]
    process = subprocess.Popen(
        [sys.executable, "-m", "halfway.comparison.compile_ahead"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,  # Ctrl-C reaches this process, which ends them
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(json.dumps(row))
    process.stdin.close()
    return process


def _check(mark: Path, one: SystemSource, process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    error = process.stdout.read().strip()
    if process.returncode == 0 and not error:
        mark.touch()
    elif one.text:
        raise Problem(f"the system does not run: {error or 'its process died'}", where=one.name)


def explained(fault: BaseException) -> str:
    """A compile-ahead exception in one line; of a compiler error its last sentence and position."""
    text = str(fault)
    at = _AT.search(text)
    if not type(fault).__module__.startswith("numba") or at is None:
        return one_line(fault)
    lines = [line.strip() for line in text[: at.start()].splitlines() if line.strip()]
    sentence = lines[-1][:_LONGEST] if lines else ""
    return f"{at[1]}:{at[2]}: {type(fault).__name__}: {sentence}"


def main() -> None:
    """Compile ahead one system: begin the run on stdin; print an error, if any, to stdout."""
    stdout = os.dup(1)
    os.dup2(2, 1)  # what a protocol prints goes to stderr
    row = json.load(sys.stdin)
    parameters = json.loads(row["parameters"])
    try:
        scenario = scenario_of(parameters, row["network_seed"])
        begun = simulation_on(prepared(scenario), scenario, source_of(parameters).system())
        begun.run(records=_FEW)
    except Exception as fault:
        os.write(stdout, explained(fault).encode())


if __name__ == "__main__":
    main()
