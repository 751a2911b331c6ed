"""Walks by topic on loopback sockets: members find each other without any introduction."""

import asyncio

import pytest

from halfway.live.interface.api import node
from halfway.live.mesh import Event
from tests.live.runtime.test_nodes import linked, run, until


@pytest.mark.parametrize("system", ["directional-walk", "random-walk"])
def test_members_of_a_topic_find_each_other_and_events_travel_along_their_paths(
    system: str,
) -> None:
    async def program() -> None:
        walks = node(
            system, compile="never", discover=False, period_s=0.2, nodes=4, degree=2, seed=3,
            options={"relaunch_s": 1.0},
        )  # fmt: skip
        async with walks as mesh:
            await linked(mesh)
            nodes = mesh.host.nodes
            got: dict[int, list[Event]] = {1: [], 2: [], 3: []}
            nodes[1].subscribe("a/b", got[1].append)
            nodes[2].subscribe("other", got[2].append)
            ends = nodes[3].subscribe("a/b", got[3].append)
            for number in range(3):
                await mesh.publish("a/b", bytes([number]))
                await asyncio.sleep(0.3)
            await until(lambda: all(len(got[place]) == 3 for place in (1, 3)))
            nodes[3].unsubscribe(ends)
            await asyncio.sleep(0.5)
            await mesh.publish("a/b", b"late")
            await until(lambda: len(got[1]) == 4)
            await asyncio.sleep(0.1)
            assert [sorted(e.payload for e in got[place]) for place in (2, 3)] == [
                [], [b"\0", b"\1", b"\2"],
            ]  # fmt: skip

    run(program)
