"""The compilation of a comparison's systems before its sweep, one per core, for systems that are
new on this machine.

A sweep would compile them one after the other while the other cores wait. This module runs each
system once, in a separate process. Its machine code stays in the cache, where a mark records it.

`python -m halfway.comparison.compile_ahead` begins the run of the plan row on its stdin.
"""

import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from halfway.adapters.user_errors import user_errors
from halfway.comparison.plan import SystemSource, point_of, scenario_of, source_of
from halfway.comparison.trial import answering, check_answer, started
from halfway.core.compiler import reach
from halfway.core.compiler.cache import CACHE_FOLDER
from halfway.core.values.digest import short_digest
from halfway.pipeline.parent_process import end_with_parent
from halfway.pipeline.plan.sweep_plan import plan
from halfway.scenario.build import prepared, simulation_on
from halfway.scenario.schema import Scenario
from halfway.scenario.swept_points import ScenarioPoint

_POLL_S = 0.1
_FEW = 100  # records: enough to call every kernel of a run
_EVERY_RUN = ("halfway.sim.simulation", "halfway.scenario.build")
_MOST_CPU_S = 600  # limit for a user's protocol; compiling takes about 30 s


# Number of compiled systems; number of all; names of the systems under compilation; estimated
# seconds left, or None before the first system is done.
CompileProgress = Callable[[int, int, Sequence[str], float | None], None]


class _Work(NamedTuple):
    """A system to compile ahead."""

    mark: Path
    scenario: Scenario
    source: SystemSource
    size: int  # bytes of source; the compile time is about proportional to it


def compile_first(
    points: Sequence[ScenarioPoint],
    systems: Sequence[SystemSource],
    cores: int,
    progress: CompileProgress | None,
) -> None:
    """Compile ahead the systems never compiled on this machine, `cores` at a time, longest first.

    Raises Problem if a user system cannot be compiled, or fails at once. Failures of built-in
    systems are left to the sweep, which keeps them as rows.
    """
    waiting = sorted(_work(points, systems), key=lambda work: work.size)
    total, begun = len(waiting), time.monotonic()
    size = sum(work.size for work in waiting)
    running: list[tuple[_Work, subprocess.Popen[str]]] = []
    try:
        while waiting or running:
            if progress is not None:
                left = sum(work.size for work in (*waiting, *(work for work, _ in running)))
                spent = time.monotonic() - begun
                progress(
                    total - len(waiting) - len(running),
                    total,
                    [work.source.name for work, _ in running],
                    spent * left / (size - left) if left < size else None,
                )
            while waiting and len(running) < cores:
                work = waiting.pop()
                running.append((work, _started(work.scenario, work.source)))
            time.sleep(_POLL_S)
            for work, process in [*running]:
                if process.poll() is not None:
                    running.remove((work, process))
                    _check(work.mark, work.source, process)
    finally:
        for _, process in running:
            with process:  # waits, and closes its pipes
                process.kill()


def _work(points: Sequence[ScenarioPoint], systems: Sequence[SystemSource]) -> list[_Work]:
    """Return the systems to compile before a comparison, those without a mark, each once for every
    kind of radio and nodes.
    """
    works: dict[Path, _Work] = {}
    for point in points:
        for source in systems:
            system = source.system()
            modules = [system.module, system.adapter.__module__, *_EVERY_RUN]
            mark = _mark(point.scenario, source, reach.digest_of(map(_loaded, modules)))
            if not mark.exists():
                size = reach.size_of([system.module])
                works[mark] = _Work(mark, point.scenario, source, size)
    return list(works.values())


def _loaded(module: str) -> str:
    importlib.import_module(module)
    return module


def _mark(scenario: Scenario, one: SystemSource, sources: str) -> Path:
    """Return the file that marks a system as compiled ahead for such a radio and such nodes."""
    radio = scenario.radio
    words = (
        f"{sources} {one.name} {one.text} {radio.__struct_config__.tag} {radio.draws_losses} "
        f"{not scenario.network.moves}"
    )
    return CACHE_FOLDER / f"compiled-{short_digest(words)}"


def _started(scenario: Scenario, one: SystemSource) -> "subprocess.Popen[str]":
    row = plan([point_of(scenario, one)], 1).to_pylist()[0]
    return started("halfway.comparison.compile_ahead", row)


def _check(mark: Path, one: SystemSource, process: "subprocess.Popen[str]") -> None:
    assert process.stdout is not None
    answer = process.stdout.read()
    if one.text:
        check_answer(answer, process.returncode, one)
    if process.returncode == 0 and not answer:
        mark.touch()


def main() -> None:
    """Compile one system ahead by beginning the run on stdin; write a Problem to stdout if one
    occurs.
    """
    end_with_parent()
    with answering():
        row = json.load(sys.stdin)
        parameters = json.loads(row["parameters"])
        source = source_of(parameters)
        if source.text:  # the compiled code of a user may never end
            resource.setrlimit(resource.RLIMIT_CPU, (_MOST_CPU_S, _MOST_CPU_S))
        with user_errors(*source):
            scenario = scenario_of(parameters, row["network_seed"])
            begun = simulation_on(prepared(scenario), scenario, source.system())
            begun.run(records=_FEW)


if __name__ == "__main__":
    main()
