"""Nodes with certificates on loopback sockets: events, permissions, and a node without a key."""

import asyncio
from pathlib import Path

import pytest

from halfway.cli import main
from halfway.live.interface.api import LiveNode, node
from halfway.live.mesh import Event, Refusal
from halfway.problem import Problem
from tests.live.runtime.test_nodes import run, until


def admitted(folder: Path, name: str, publish: str) -> dict[str, Path]:
    """The files of a node that a network in this folder has admitted."""
    key, network = folder / f"{name}.key", folder / "home"
    if not network.exists():
        assert main(["net", "new", str(network)]) == 0
    assert main(["net", "key", str(key)]) == 0
    pub = str(key.with_suffix(".pub"))
    words = ["net", "admit", str(network), pub, "--publish", publish, "--subscribe", "#"]
    assert main(words) == 0
    return {"certificate": network / "members" / f"{name}.cert", "key": key}


def keyed(files: dict[str, Path], *peers: LiveNode) -> LiveNode:
    """A node with keys that knows other nodes."""
    known = [f"127.0.0.1:{one.mesh.endpoint.address[1]}" for one in peers]
    return node(peers=known, compile="never", discover=False, period_s=0.2, **files)


def test_nodes_with_keys_exchange_events_and_others_are_not_heard(tmp_path: Path) -> None:
    one = admitted(tmp_path, "one", "sensors/#")
    two = admitted(tmp_path, "two", "other/#")
    (tmp_path / "elsewhere").mkdir()
    three = admitted(tmp_path / "elsewhere", "three", "#")

    async def program() -> None:
        async with keyed(one) as first, keyed(two, first) as second, keyed(three, first) as third:
            assert first.mesh.name == "one"
            assert first.status()["security"] == "keys of network home"
            await second.neighbours(timeout_s=20.0)
            await first.neighbours(timeout_s=20.0)
            got: list[Event] = []
            second.mesh.subscribe("sensors/#", got.append)
            await first.publish("sensors/a", bytes(3000))
            await until(lambda: got)
            assert (got[0].payload, got[0].publisher) == (bytes(3000), first.mesh.node_id)
            with pytest.raises(Refusal, match="not permitted"):
                await second.publish("sensors/a", b"")
            await asyncio.sleep(0.5)
            assert third.status()["neighbours"] == third.status()["heard"] == []
            assert [one["name"] for one in first.status()["neighbours"]] == ["two"]

    run(program)


def test_one_file_without_the_other_is_a_problem(tmp_path: Path) -> None:
    with pytest.raises(Problem, match="expected key as well"):
        node(certificate=tmp_path / "a.cert")
    with pytest.raises(Problem, match="expected 1 with a certificate"):
        node(certificate=tmp_path / "a.cert", key=tmp_path / "a.key", nodes=2)
