"""Nodes with certificates on loopback sockets: events, permissions, and a node without a key."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from halfway.cli import main
from halfway.live.interface.api import LiveNode, node
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.mesh import Event, Refusal
from halfway.live.runtime.key_files import RevocationFile, keyed_security
from halfway.live.runtime.settings import Settings
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


def keyed(files: dict[str, Path], *peers: LiveNode, **more: Any) -> LiveNode:
    """A node with keys that knows other nodes."""
    known = [f"127.0.0.1:{one.mesh.endpoint.address[1]}" for one in peers]
    return node(peers=known, compile="never", discover=False, **{"period_s": 0.2, **files, **more})


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
    with pytest.raises(Problem, match="expected --key as well"):
        node(certificate=tmp_path / "a.cert")
    with pytest.raises(Problem, match="expected 1 for a node with a certificate"):
        node(certificate=tmp_path / "a.cert", key=tmp_path / "a.key", nodes=2)
    with pytest.raises(Problem, match="expected only one of the two"):
        node(certificate=tmp_path / "a.cert", key=tmp_path / "a.key", secret=tmp_path / "s")
    with pytest.raises(Problem, match="only certificates can be revoked"):
        node(revoked=tmp_path / "revoked.list")


def test_a_node_has_the_name_in_its_certificate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = admitted(tmp_path, "kitchen", "#")
    words = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    expected = "name = hall: expected kitchen, the name in the certificate"
    with pytest.raises(Problem, match=expected):  # before the command, which would not end
        keyed_security(Settings(name="hall", **files))
    capsys.readouterr()
    assert main(["node", "--name", "hall", "--no-discover", "--interpreted", *words]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1
    for name in ("", "kitchen"):
        made = keyed_security(Settings(name=name, **files))
        assert made.membership.own.name == "kitchen"


@pytest.mark.parametrize("other", ["away", "development"])
def test_a_node_has_the_network_in_its_certificate(
    other: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = admitted(tmp_path, "kitchen", "#")
    words = [word for name, file in files.items() for word in (f"--{name}", str(file))]
    expected = f"network = {other}: expected home, the network in the certificate"
    with pytest.raises(Problem, match=expected):  # before the command, which would not end
        keyed_security(Settings(network=other, **files))
    capsys.readouterr()
    assert main(["node", "--network", other, "--no-discover", "--interpreted", *words]) == 2
    error = capsys.readouterr().err
    assert expected in error
    assert error.count("\n") == 1
    for network in ("", "home"):
        made = keyed_security(Settings(network=network, **files))
        assert made.membership.network == "home"


def test_nodes_that_are_no_neighbours_learn_each_others_rights(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two, three = (admitted(tmp_path, name, f"{name}/#") for name in ("one", "two", "three"))

    async def program() -> None:
        async with keyed(one) as a, keyed(two, a) as b, keyed(three, b) as c:
            await b.neighbours(2, timeout_s=20.0)
            await c.neighbours(timeout_s=20.0)
            await a.publish("one/before", b"1", retain=True)
            assert [other["name"] for other in c.status()["neighbours"]] == ["two"]
            got: list[Event] = []
            c.mesh.subscribe("#", got.append)
            for _ in range(3):
                await a.publish("one/x", b"")
            await until(lambda: len(got) >= 3)
            assert {event.publisher for event in got} == {a.mesh.node_id}
            await until(lambda: c.retained("one/before"))
            # What the certificate forbids ends at the first neighbour, whatever the node says.
            monkeypatch.setattr(a.mesh.security, "permits", lambda *_: True)
            await a.publish("three/x", b"forged")
            await until(lambda: b.status()["drops"].get("not permitted"))
            assert "not permitted" not in c.status()["drops"]
            assert all(event.topic != "three/x" for event in got)

    run(program)


def test_a_revoked_node_is_out_within_two_hello_periods(tmp_path: Path) -> None:
    one, two, three = (admitted(tmp_path, name, "#") for name in ("one", "two", "three"))
    revoked = tmp_path / "given.list"

    async def program() -> None:
        assert main(["net", "revoke", str(tmp_path / "home"), "three"]) == 0
        listed = tmp_path / "home/revoked.list"
        async with keyed(one) as a, keyed(two, a) as b, keyed(three, a, b) as c:
            await c.neighbours(2, timeout_s=20.0)
            await b.neighbours(2, timeout_s=20.0)
            security = a.mesh.security
            assert isinstance(security, KeyedSecurity)
            shutil.copy(listed, revoked)
            RevocationFile(revoked, security, a.host.scheduler, 0.2)
            hellos = a.mesh.links._number, b.mesh.links._number
            outlaw = c.mesh.node_id

            def is_out() -> bool:
                return all(
                    outlaw not in of.mesh.security.peers()
                    and outlaw not in of.mesh.links.table.neighbours()
                    for of in (a, b)
                )

            await until(is_out)
            assert a.mesh.links._number <= hellos[0] + 2
            assert b.mesh.links._number <= hellos[1] + 2
            assert b.mesh.node_id in security.peers()

    run(program)


def test_a_revocation_list_is_read_again_when_it_changes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    one, _ = (admitted(tmp_path, name, "#") for name in ("one", "two"))
    assert main(["net", "revoke", str(tmp_path / "home"), "two"]) == 0
    path = tmp_path / "home/revoked.list"

    async def program() -> None:
        with pytest.raises(Problem, match="no such file"):
            await node(revoked=tmp_path / "none", period_s=0.1, **one).__aenter__()
        async with node(revoked=path, compile="never", discover=False, period_s=0.1, **one) as a:
            security = a.mesh.security
            assert isinstance(security, KeyedSecurity)
            assert security.membership.revocations.version == 1
            path.write_text("no list")
            await until(lambda: "not read" in caplog.text)
            admitted(tmp_path, "three", "#")
            assert main(["net", "revoke", str(tmp_path / "home"), "three"]) == 0
            await until(lambda: security.membership.revocations.version == 2)

    run(program)


def test_a_node_reads_the_empty_list_of_a_new_network(tmp_path: Path) -> None:
    one = admitted(tmp_path, "one", "#")
    path = tmp_path / "home/revoked.list"

    async def program() -> None:
        async with node(revoked=path, compile="never", discover=False, period_s=0.1, **one) as a:
            security = a.mesh.security
            assert isinstance(security, KeyedSecurity)
            assert security.membership.revocations.serials == ()
            assert a.status()["network"] == "home"
            assert main(["net", "revoke", str(tmp_path / "home"), "one"]) == 0
            await until(lambda: security.membership.revocations.version == 1)

    run(program)


def test_nodes_with_one_secret_are_neighbours(tmp_path: Path) -> None:
    secret = tmp_path / "shed.secret"
    assert main(["net", "secret", str(secret)]) == 0
    for name in ("one", "two"):
        assert main(["net", "key", str(tmp_path / f"{name}.key")]) == 0

    async def program() -> None:
        async with (
            keyed({"secret": secret, "key": tmp_path / "one.key"}) as a,
            keyed({"secret": secret, "key": tmp_path / "two.key"}, a) as b,
        ):
            assert await b.neighbours(timeout_s=20.0) == ["one"]
            assert "weaker than certificates" in a.status()["security"]

    run(program)
