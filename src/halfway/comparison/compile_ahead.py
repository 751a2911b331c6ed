"""Machine code before the sweep: systems that were never run here are compiled, one a core.

A sweep would compile them one after the other, while the other cores wait. Here each system is run
once in a process of its own, whose machine code stays in the cache; a mark there says so.

`python -m halfway.comparison.compile_ahead` begins the run that a plan row on its stdin names.
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

from halfway.comparison.points import Contender, contender_of, point_of, scenario_of
from halfway.core.compiled import CACHE_FOLDER
from halfway.pipeline.plan.plan import plan
from halfway.pipeline.spark.simulate import one_line
from halfway.problem import Problem
from halfway.scenario.build import simulation_on, staged
from halfway.scenario.schema import Recorded, Scenario, Waypoint
from halfway.scenario.sweep import ScenarioPoint

_POLL_S = 0.1
_FEW = 100  # records: enough that every kernel of a run was called
# Where the compiler stood in the user's file: the sentence before that says what is wrong.
_AT = re.compile(r'\n[ \t]*File "[^"]*own-[0-9a-f]{16}/([^"/]+)", line (\d+)')
_LONGEST = 200
Told = Callable[[int, int], None]  # systems compiled, of how many


def compile_first(
    points: Sequence[ScenarioPoint], contenders: Sequence[Contender], cores: int, told: Told
) -> None:
    """Compile what no process of this machine has compiled yet, `cores` systems at a time.

    Raises Problem where a system of the user's own cannot be compiled, or fails at once. Failures
    of ours are left to the sweep, which keeps them as rows.
    """
    waiting = {
        mark: (point.scenario, one)
        for point in points
        for one in contenders
        if not (mark := _mark(point.scenario, one)).exists()
    }
    total, running = len(waiting), list[tuple[Path, Contender, subprocess.Popen[str]]]()
    try:
        while waiting or running:
            told(total - len(waiting) - len(running), total)
            while waiting and len(running) < cores:
                mark, (scenario, one) = waiting.popitem()
                running.append((mark, one, _started(scenario, one)))
            time.sleep(_POLL_S)
            for made in [made for made in running if made[2].poll() is not None]:
                running.remove(made)
                _ended(*made)
    finally:
        for _, _, process in running:
            with process:  # waited for, its pipes closed
                process.kill()


def _mark(scenario: Scenario, one: Contender) -> Path:
    """A file that says that this system was compiled for such a radio and such nodes."""
    radio = scenario.radio
    losses = getattr(radio, "success", 1.0) < 1.0 or getattr(radio, "ratios", None) is not None
    stands = not isinstance(scenario.network, Waypoint | Recorded)
    words = f"{one.name} {one.text} {radio.__struct_config__.tag} {losses} {stands}"
    return Path(CACHE_FOLDER) / f"compiled-{hashlib.sha256(words.encode()).hexdigest()[:16]}"


def _started(scenario: Scenario, one: Contender) -> "subprocess.Popen[str]":
    row = plan([point_of(scenario, one)], 1).to_pylist()[0]
    process = subprocess.Popen(
        [sys.executable, "-m", "halfway.comparison.compile_ahead"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        start_new_session=True,  # Ctrl-C is for us; we end them
    )  # fmt: skip
    assert process.stdin is not None
    process.stdin.write(json.dumps(row))
    process.stdin.close()
    return process


def _ended(mark: Path, one: Contender, process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    error = process.stdout.read().strip()
    if process.returncode == 0 and not error:
        mark.touch()
    elif one.text:
        raise Problem(f"it does not run: {error or 'its process died'}", where=one.name)


def explained(fault: BaseException) -> str:
    """An exception in a line. The compiler's come in pages: the innermost sentence, and where."""
    text = str(fault)
    at = _AT.search(text)
    if not type(fault).__module__.startswith("numba") or at is None:
        return one_line(fault)
    said = [line.strip() for line in text[: at.start()].splitlines() if line.strip()]
    sentence = said[-1][:_LONGEST] if said else ""
    return f"{at[1]}:{at[2]}: {type(fault).__name__}: {sentence}"


def main() -> None:
    """Begin the run on stdin; say on stdout what went wrong, if anything did."""
    told = os.dup(1)
    os.dup2(2, 1)  # whatever a protocol prints is not for our reader
    row = json.load(sys.stdin)
    parameters = json.loads(row["parameters"])
    try:
        scenario = scenario_of(parameters, row["network_seed"])
        begun = simulation_on(staged(scenario), scenario, contender_of(parameters).system())
        begun.run(events=_FEW)
    except Exception as fault:
        os.write(told, explained(fault).encode())


if __name__ == "__main__":
    main()
