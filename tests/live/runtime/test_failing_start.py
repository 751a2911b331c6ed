"""The start of live nodes that fails: afterwards no socket, file or node is open."""

import contextlib
from pathlib import Path
from typing import Any

import pytest

from halfway.live.journal import node_journal
from halfway.live.journal.node_journal import NodeJournal
from halfway.live.runtime import host as host_module
from halfway.live.runtime.host import Host
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.runtime.settings import Settings
from halfway.problem import Problem
from tests.live.runtime.test_keyed_nodes import admitted
from tests.live.runtime.test_nodes import run


def open_files() -> dict[str, str]:
    """What this process has open, by descriptor."""
    found = {}
    for one in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(OSError):  # of the list itself
            found[one.name] = str(one.readlink())
    return found


def fails(settings: Settings, error: type[BaseException], words: str) -> Host:
    """Let a host fail at its start, and check that nothing stays open."""
    hosts = []

    async def program() -> None:
        before = open_files()
        host = Host(settings)
        hosts.append(host)
        with pytest.raises(error, match=words) as caught:
            await host.__aenter__()
        assert open_files() == before
        assert caught.tb  # its frames keep what would be open

    run(program)
    return hosts[0]


def settings_of(**more: Any) -> Settings:
    """The settings of nodes that look for no other process."""
    return Settings(**{"discover": False, "compile": "never", **more})


def test_refused_keys_leave_no_socket_open(tmp_path: Path) -> None:
    files = admitted(tmp_path, "one", "#")
    (tmp_path / "elsewhere").mkdir()
    other = admitted(tmp_path / "elsewhere", "two", "#")
    mixed = {"certificate": files["certificate"], "key": other["key"]}
    fails(settings_of(**mixed), Problem, "belongs to the key of another node")


def test_a_refused_revocation_list_leaves_no_socket_open(tmp_path: Path) -> None:
    files = admitted(tmp_path, "one", "#")
    revoked = tmp_path / "revoked.list"
    revoked.write_text("no list")
    fails(settings_of(**files, revoked=revoked), Problem, "revoked")


def test_a_journal_in_use_leaves_nothing_open(tmp_path: Path) -> None:
    """The founder of a tree has its node already, but the node has not started."""

    async def program() -> None:
        async with Host(settings_of(state=tmp_path)):
            before = open_files()
            host = Host(settings_of(state=tmp_path, system="siena", role="founder"))
            with pytest.raises(Problem, match="another node already uses this journal") as caught:
                await host.__aenter__()
            assert open_files() == before
            assert caught.tb
            assert host.nodes[0].counts["transmissions"] == 0

    run(program)


def test_a_journal_that_cannot_be_read_leaves_nothing_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreadable(_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(node_journal.Journal, "recover", unreadable)
    fails(settings_of(state=tmp_path), Problem, "the journal cannot be read")


def test_a_journal_that_was_opened_is_closed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise RuntimeError("no restart")

    monkeypatch.setattr(host_module, "keep_in", refused)
    fails(settings_of(state=tmp_path), RuntimeError, "no restart")


def test_a_port_in_use_closes_the_sockets_before_it() -> None:
    async def program() -> None:
        async with Host(settings_of()) as one:
            port = one.nodes[0].endpoint.address[1]
            before = open_files()
            for nodes in (1, 2):
                with pytest.raises(Problem, match="port") as caught:
                    await Host(settings_of(nodes=nodes, port=port - nodes + 1)).__aenter__()
                assert open_files() == before
                assert caught.tb

    run(program)


def test_every_part_closes_also_after_an_error_of_another_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second of three nodes fails at its start, and at its stop."""
    start, stop, stopped = MeshNode.start, MeshNode.stop, list[str]()

    def started(node: MeshNode) -> None:
        if node.name == "a-1":
            raise RuntimeError("no start")
        start(node)

    def ended(node: MeshNode) -> None:
        stopped.append(node.name)
        stop(node)
        if node.name == "a-1":
            raise RuntimeError("no end")

    monkeypatch.setattr(MeshNode, "start", started)
    monkeypatch.setattr(MeshNode, "stop", ended)
    settings = settings_of(name="a", nodes=3, state=tmp_path, discover=True)
    host = fails(settings, RuntimeError, "no end")
    assert stopped == ["a-0", "a-1", "a-2"]
    assert len(host.journals) == 3


def test_a_journal_closes_its_segment_with_the_node(tmp_path: Path) -> None:
    async def program() -> None:
        before = open_files()
        journal = NodeJournal(tmp_path)
        await journal.write(1, b"a")
        assert len(open_files()) == len(before) + 2  # the lock and the segment
        await journal.close()
        assert open_files() == before

    run(program)
