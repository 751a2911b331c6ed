"""Ctrl-C: never a traceback, never swallowed, at whatever moment it comes."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.comparison.scenarios import SMALL, written

CODE = """
import os, signal, sys
import halfway.__main__ as main
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
class Swallowing:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            try:
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(1000):
                    pass
            except KeyboardInterrupt:
                if {raises}:
                    raise
sys.meta_path.insert(0, Swallowing())
sys.argv = ["halfway", "simulate", {scenario!r}, "--system", "flooding", "--debug"]
sys.exit(main.main())
"""
BEGUN = """
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
import halfway.__main__ as main
from halfway.sim.simulation import Simulation
advance = Simulation.advance
def begun(run, *given, **more):
    print("begun", flush=True)
    advance(run, *given, **more)
Simulation.advance = begun
sys.exit(main.main())
"""


@pytest.mark.parametrize("raises", [True, False])
@pytest.mark.parametrize("module", ["typer", "halfway.scenario.build"])
@pytest.mark.long
def test_an_interrupt_during_imports_ends_the_command(
    tmp_path: Path, module: str, raises: bool
) -> None:
    code = CODE.format(module=module, raises=raises, scenario=str(written(tmp_path)))
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, env=os.environ
    )
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "halfway: interrupted\n"


def test_an_interrupt_takes_effect_between_records(tmp_path: Path) -> None:
    """An interpreted run of many minutes, which says when it begins."""
    text = SMALL.replace("seconds = 20", "seconds = 40000").replace("events = 8", "events = 30000")
    command = [sys.executable, "-c", BEGUN, "simulate", str(written(tmp_path, text)), "--debug"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=os.environ | {"NUMBA_DISABLE_JIT": "1"},
    ) as run:  # fmt: skip
        assert run.stdout is not None
        assert run.stdout.readline() == "begun\n"
        time.sleep(0.2)
        assert run.poll() is None
        run.send_signal(signal.SIGINT)
        out, error = run.communicate(timeout=300)
    assert (run.returncode, out, error) == (130, "", "halfway: interrupted\n")
