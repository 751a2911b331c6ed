"""Build a wheel that carries the machine code of all systems, for any x86-64 processor.

A user who installs the wheel with the same versions of Python and numba compiles nothing.

    python tools/wheel.py [FOLDER]     the wheel goes to FOLDER (default: dist)
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SCENARIOS = sorted((ROOT / "examples" / "scenarios").glob("*.toml"))
_FEW = 300  # records of a run: enough to call every kernel


def main() -> None:
    """Compile all systems for a generic processor, build the wheel, remove the machine code
    again.
    """
    from halfway.core.compiler.cache import GENERIC, SHIPPED

    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory() as cache:
        generic = {"NUMBA_CPU_NAME": GENERIC[0], "NUMBA_CPU_FEATURES": GENERIC[1]}
        environment = {**os.environ, **generic, "XDG_CACHE_HOME": cache}
        running = [
            subprocess.Popen([sys.executable, __file__, "--compile", str(path)], env=environment)
            for path in SCENARIOS
        ]
        statuses = [one.wait() for one in running]
        if any(statuses):
            sys.exit("error: a system did not compile; see above")
        try:
            shutil.copytree(Path(cache) / "halfway", SHIPPED, ignore=_all_but_kernels)
            command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
            subprocess.run(command, cwd=ROOT, check=True)
        finally:
            shutil.rmtree(SHIPPED, ignore_errors=True)


def _all_but_kernels(_folder: str, names: list[str]) -> list[str]:
    return [name for name in names if not name.endswith(".kernel")]


def compile_systems(scenario: str) -> None:
    """Begin a run of each system on a scenario, so that its machine code goes into the wheel."""
    from halfway.problem import Problem
    from halfway.protocols import SYSTEMS
    from halfway.scenario.build import simulation_of
    from halfway.scenario.reading import read_scenario

    for system in SYSTEMS:
        try:
            simulation_of(read_scenario(Path(scenario), {}), system=system).run(records=_FEW)
        except Problem as problem:
            sys.stderr.write(f"{Path(scenario).stem}, {system}: not compiled: {problem}\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--compile"]:
        compile_systems(sys.argv[2])
    else:
        main()
