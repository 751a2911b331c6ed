"""Nodes of every live system run before the compiler has finished: they compile nothing themselves.

A compilation in the process of the nodes would stop their event loop for seconds.
"""

import subprocess
import sys

import pytest

from tests.house.sources import REPOSITORY

_PROGRAM = """
import asyncio
from halfway.core.compiler import callees

compiled = []
def compile(self, sig, real=callees.KernelDispatcher.compile):
    compiled.append(f"{self.py_func.__module__}.{self.py_func.__name__}")
    return real(self, sig)
callees.KernelDispatcher.compile = compile

import halfway.live
from tests.loops import JumpingLoop, run
from halfway.live.systems.live_systems import live_systems, roles_of, spreads_events, uses_position

QUICK = {"refresh_s": 0.5, "join_delay_s": 0.3, "search_s": 0.1, "ack_timeout_s": 0.2}

async def two_nodes(system):
    options = QUICK if roles_of(system) else {}
    place = (100.0, 100.0) if uses_position(system) else None
    async with halfway.live.node(
        system, options=options, nodes=2, position=place, discover=False, period_s=0.3,
        compile="never", seed=1, **({"role": "founder"} if roles_of(system) else {}),
    ) as one:
        if spreads_events(system):
            events = one.subscribe("a/b")
            await asyncio.sleep(3.0)
            await one.host.nodes[1].publish("a/b", b"x")
        await asyncio.sleep(2.0)
        one.status()
        print(system, one.mesh.counts["records received"] > 0)

async def main():
    await asyncio.gather(*(two_nodes(system) for system in live_systems()))

run(main(), JumpingLoop)
print("compiled", compiled)
"""


@pytest.mark.long
def test_no_node_compiles_in_its_own_process() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], cwd=REPOSITORY, capture_output=True, text=True,
        check=False, timeout=600,
    )  # fmt: skip
    lines = done.stdout.splitlines()
    assert lines[-1:] == ["compiled []"], (done.stdout, done.stderr[-2000:])
    assert len(lines) > 12
    assert all(line.endswith(" True") for line in lines[:-1]), lines
