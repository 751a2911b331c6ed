"""The commands of live nodes against nodes in this process: output, JSON and exit status."""

import asyncio
import contextlib
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from halfway.cli import main
from halfway.core.message import RECORD
from halfway.live.control import server
from halfway.live.control.client import chosen
from halfway.live.control.places import ControlSocket, folder, running
from halfway.live.interface.api import blocking_node
from halfway.live.interface.background import BackgroundHost
from halfway.live.link.endpoint import bound
from halfway.live.runtime.settings import GROUP, Settings
from halfway.live.trace.parts import MARK, PART, RECORDS
from halfway.live.trace.recorder import Recorder
from halfway.problem import Problem
from halfway.protocols.parts.application import PUBLISH


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[BackgroundHost]:
    """Two linked nodes, "here" and its neighbour, with a log and a control socket."""
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path))
    settings = Settings(
        name="here", nodes=2, degree=2, compile="never", discover=False, period_s=0.1, trace=64
    )
    with BackgroundHost(settings, control="here") as host:
        yield host


@pytest.fixture
def no_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No node on this machine."""
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path))


def lines(capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    """What a command printed as JSON."""
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.mark.usefixtures("place")
def test_pub_sub_status_scout_and_ping(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["pub", "lamps/hall", "on {{count}}", "--count", "2", "--retain", "--json"]) == 0
    assert lines(capsys) == [{"published": 2, "neighbours": 1}]
    assert main(["sub", "lamps/#", "--count", "1", "--json"]) == 0
    (event,) = lines(capsys)
    assert (event["topic"], event["payload"], event["retained"]) == ("lamps/hall", "on 2", True)
    assert main(["status", "--json"]) == 0
    (status,) = lines(capsys)
    assert status["node"] == "here-0"
    assert status["security"] == "UNSAFE development network on loopback"
    assert status["counts"]["published"] == 2
    assert main(["status"]) == 0
    assert "1 neighbours: here-1" in capsys.readouterr().out
    assert main(["scout", "--json"]) == 0
    assert [one["name"] for one in lines(capsys)] == ["here-1"]
    assert main(["scout", "--neighbours", "1", "--json"]) == 0
    assert [one["name"] for one in lines(capsys)] == ["here-1"]
    assert main(["scout", "--neighbours", "2", "--seconds", "0.2", "--json"]) == 1
    assert [one["name"] for one in lines(capsys)] == ["here-1"]
    assert main(["ping", "here-1", "--count", "2", "--json"]) == 0
    assert all(one["seconds"] is not None for one in lines(capsys))
    assert main(["ping", "stranger"]) == 2
    assert "no neighbour of here-0 has this name (neighbours: here-1)" in capsys.readouterr().err


def test_spy_counts_events_and_no_retained_value(
    place: BackgroundHost, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("halfway.cli.live.events._SPY_EVERY_S", 0.1)
    assert main(["pub", "lamps/hall", "on", "--retain"]) == 0
    capsys.readouterr()
    assert main(["spy", "lamps/#", "--seconds", "0.3"]) == 0
    assert set(capsys.readouterr().out.splitlines()) == {"no event arrived in the last second"}
    has_ended = threading.Event()

    def publish() -> None:
        while not has_ended.wait(0.05):
            place.wait_for(place.host.nodes[0].publish("lamps/attic", b"on", retain=True))

    publisher = threading.Thread(target=publish)
    publisher.start()
    found: list[dict[str, object]] = []
    try:
        while not found:  # the machine may stop this process for more than a second
            assert main(["spy", "lamps/#", "--seconds", "1", "--json"]) == 0
            found = lines(capsys)
    finally:
        has_ended.set()
        publisher.join()
    assert {one["topic"] for one in found} == {"lamps/attic"}


def test_a_command_chooses_any_node_of_a_process(
    place: BackgroundHost, capsys: pytest.CaptureFixture[str]
) -> None:
    second = place.host.nodes[1]
    for name in ("here-1", str(second.node_id)):
        assert main(["status", "--node", name, "--json"]) == 0
        assert [one["node"] for one in lines(capsys)] == ["here-1"]
        assert main(["scout", "--node", name, "--neighbours", "1", "--json"]) == 0
        assert [one["name"] for one in lines(capsys)] == ["here-0"]
    assert main(["pub", "lamps/hall", "on", "--node", "here-1"]) == 0
    assert second.counts["published"] == 1


@pytest.mark.usefixtures("place")
def test_errors_name_the_remedy(capsys: pytest.CaptureFixture[str]) -> None:
    for words, expected in (
        (["pub", "a/#", "x"], "bad topic: 'a/#': expected a topic without +, # and NUL"),
        (["sub", "a#"], "bad filter"),
        (["status", "--node", "zzz"], "no such node is running (running nodes: here)"),
        (["node", "--name", "here", "--no-discover"], "a node with this name is already running"),
        (["node", "--system", "brokers"], "system = brokers: expected a system that runs live"),
        (["node", "-o", "x=y"], "--option x = y: expected a number, true or false"),
    ):
        assert main(words) == 2
        assert expected in capsys.readouterr().err


@pytest.mark.usefixtures("no_node")
def test_without_a_node_commands_say_so_or_are_a_node(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A group that no node of another test on this machine uses.
    with bound("127.0.0.1", 0) as unused:
        group = GROUP[0], unused.getsockname()[1]
    monkeypatch.setattr("halfway.live.runtime.host.GROUP", group)
    assert main(["status"]) == 2
    assert "no node is running for this user" in capsys.readouterr().err
    assert main(["pub", "a", "x", "--wait", "0", "--json"]) == 0
    printed = capsys.readouterr()
    assert json.loads(printed.out) == {"published": 1, "neighbours": 0}
    assert "this command starts a node" in printed.err
    assert running() == []


def publisher_at(trace: bytearray) -> int:
    """Where a trace has the publisher of its first publication."""
    at, fields = len(MARK), RECORD.fields
    assert fields is not None
    while True:
        part_type, size = PART.unpack_from(trace, at)
        at += PART.size
        if part_type == RECORDS:
            records = np.frombuffer(bytes(trace[at : at + size]), RECORD)
            found = np.flatnonzero(records["kind"] == PUBLISH)
            if len(found):
                return int(at + found[0] * RECORD.itemsize + fields["publisher"][1])
        at += size


def test_a_trace_replays_to_the_same_state(
    place: BackgroundHost, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = place.host.nodes
    path = tmp_path / "one.trace"

    async def publish_meanwhile() -> None:
        recorder = Recorder(nodes[1], path)
        nodes[1].subscribe("a/#", lambda _: None)
        for number in range(40):
            await nodes[number % 2].publish(f"a/{number % 3}", b"x")
            await asyncio.sleep(0.02)
        assert recorder.close() > 80  # more than the log has room for

    assert main(["pub", "warm/up", "x"]) == 0  # waits for the link
    place.wait_for(publish_meanwhile())
    capsys.readouterr()
    assert main(["replay", str(path), "--json"]) == 0
    (found,) = lines(capsys)
    assert found["is_same"] is True
    # Another publisher in one publication gives another state.
    spoilt = bytearray(path.read_bytes())
    spoilt[publisher_at(spoilt)] ^= 1
    path.write_bytes(bytes(spoilt))
    assert main(["replay", str(path)]) == 1
    path.write_bytes(bytes(spoilt[:-50]))
    assert main(["replay", str(path)]) == 2
    assert "ends too early" in capsys.readouterr().err


def test_the_folder_of_sockets_belongs_to_the_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path / "new"))
    assert folder().stat().st_mode & 0o777 == 0o700
    (folder() / "dead.sock").touch()
    assert chosen() is None
    assert list(folder().iterdir()) == []
    folder().chmod(0o777)
    with pytest.raises(Problem, match="other users can write"):
        folder()


@pytest.mark.usefixtures("no_node")
def test_a_command_does_not_remove_the_socket_of_a_process_that_starts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    listen, found = socket.socket.listen, list[ControlSocket]()

    def after_a_command(sock: socket.socket, *backlog: int) -> None:
        if sock.family is socket.AF_UNIX:
            found.extend(running())
        listen(sock, *backlog)

    monkeypatch.setattr(socket.socket, "listen", after_a_command)
    settings = Settings(name="new", compile="never", discover=False)
    with BackgroundHost(settings, control="new"):
        assert [one.name for one in running()] == ["new"]
        assert [path.name for path in folder().iterdir()] == ["new.sock"]
        assert (folder() / "new.sock").stat().st_mode & 0o777 == 0o600
    assert list(folder().iterdir()) == []


@pytest.mark.usefixtures("no_node")
def test_a_stopped_process_keeps_its_control_socket() -> None:
    path = folder() / "stopped.sock"
    with socket.socket(socket.AF_UNIX) as stopped, contextlib.ExitStack() as waiting:
        stopped.bind(str(path))
        stopped.listen(1)
        with contextlib.suppress(BlockingIOError):
            while True:  # until no further connection can wait
                one = waiting.enter_context(socket.socket(socket.AF_UNIX))
                one.setblocking(False)
                one.connect(str(path))
        assert [one.name for one in running()] == ["stopped"]
    path.unlink()


def test_a_node_without_an_event_loop() -> None:
    with blocking_node(nodes=2, compile="never", discover=False) as one:
        events = one.subscribe("a/#")
        one.publish("a/b", b"1", retain=True)
        assert events.get(timeout=60).payload == b"1"
        assert one.retained("#")[0].topic == "a/b"
        assert one.status()["counts"]["published"] == 1
    with pytest.raises(Problem, match="no keys"), blocking_node(host="0.0.0.0"):
        pass


@pytest.mark.usefixtures("place")
def test_a_command_beyond_the_limit_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 0)
    assert main(["status"]) == 2
    assert "this process already serves" in capsys.readouterr().err
