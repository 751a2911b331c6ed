"""`halfway members`, and the commands and options that a node of a failure detector refuses."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from halfway.cli import main
from halfway.live.control.client import answer_of, ask, running
from halfway.live.control.control_requests import (
    MemberAnswer,
    MembersRequest,
    Ready,
    StatusAnswer,
    StatusRequest,
)
from halfway.live.control.places import ControlSocket
from halfway.live.interface.background import BackgroundHost
from halfway.live.interface.service import Service, ServiceSettings
from halfway.live.runtime.settings import Settings
from tests.live.control.test_commands import lines
from tests.live.systems.test_detectors import quick
from tests.systems import DETECTORS

_LONGEST_S = 120.0
# Longer times than those of `quick`, for nodes with the clock of the machine.
SLOWER = {"period_s": 1.0, "ping_timeout_s": 0.45, "timeout_s": 6.0}
SETTINGS = Settings(
    system="swim", options=quick("swim"), name="here", nodes=2, degree=2, compile="never",
    discover=False, period_s=0.1,
)  # fmt: skip


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path / "run"))


@pytest.fixture
def swim() -> Iterator[BackgroundHost]:
    """Two linked nodes of `swim`."""
    with BackgroundHost(SETTINGS, control="here") as host:
        until(lambda: len(known(host)) == 1)
        yield host


def known(host: BackgroundHost) -> list[object]:
    """The members that the first node knows."""
    members = host.host.nodes[0].members
    assert members is not None
    return list(host.call(members.all))


def until(true: object) -> None:
    """Wait until a function returns something true."""
    assert callable(true)
    deadline = time.monotonic() + _LONGEST_S
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.1)  # nodes in other processes have work to do, too


def test_members_are_listed(swim: BackgroundHost, capsys: pytest.CaptureFixture[str]) -> None:
    other = swim.host.nodes[1]
    assert main(["members", "--json"]) == 0
    (row,) = lines(capsys)
    assert row.pop("since_s") is not None
    incarnation = row.pop("incarnation")
    assert row == {"id": other.node_id, "name": "here-1", "state": "trusted"}
    assert main(["members", "--node", "here"]) == 0
    words = capsys.readouterr().out.split()
    assert words[:3] == ["here-1", str(other.node_id), "trusted"]
    assert words[-2:] == ["incarnation", str(incarnation)]
    assert main(["status"]) == 0
    assert "members: 1 trusted, 0 suspected" in capsys.readouterr().out


def test_changes_are_followed_until_the_node_ends(
    swim: BackgroundHost, capsys: pytest.CaptureFixture[str]
) -> None:
    place, got, ready = swim.place, list[MemberAnswer](), threading.Event()
    assert place is not None

    def follow() -> None:
        for answer in ask(place, MembersRequest(follow=True)):
            if isinstance(answer, Ready):
                ready.set()
            elif isinstance(answer, MemberAnswer):
                got.append(answer)

    thread = threading.Thread(target=follow)
    thread.start()
    assert ready.wait(_LONGEST_S)
    assert [one.state for one in got] == ["trusted"]
    swim.call(swim.host.nodes[1].stop)
    until(lambda: len(got) == 2)
    assert (got[1].name, got[1].state, got[1].since_s) == ("here-1", "suspected", 0.0)
    swim.__exit__()
    thread.join(_LONGEST_S)
    assert not thread.is_alive()
    assert main(["members", "--follow"]) == 2  # no node runs now
    expected = "no node is running for this user on this machine (start a node with `halfway node"
    assert f"{expected} --system swim`)" in capsys.readouterr().err


def test_a_follower_that_leaves_is_forgotten(swim: BackgroundHost) -> None:
    place, members = swim.place, swim.host.nodes[0].members
    assert place is not None
    assert members is not None
    answers = ask(place, MembersRequest(follow=True))
    while not isinstance(next(answers), Ready):
        pass
    assert len(members._followers) == 1
    answers.close()
    until(lambda: not members._followers)


@pytest.mark.usefixtures("swim")
def test_commands_that_need_events_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    expected = "system = swim: expected a system that spreads events"
    for words in (
        ["pub", "a", "x"], ["sub", "a"], ["spy"], ["route", "a/b"], ["bench", "--system", "swim"],
        ["node", "--system", "swim", "--mqtt", "0"],
        ["node", "--system", "swim", "--mqtt-tls", "0", "--mqtt-certificate", "a", "--mqtt-key",
         "b"],
    ):  # fmt: skip
        assert main(words) == 2
        error = capsys.readouterr().err
        assert expected in error, words
        assert "choose a node of another system, or see" in error
        assert "`halfway members`" in error
    assert main(["ping", "here-1", "--count", "1"]) == 0
    assert main(["route", "here-1"]) == 0


def test_a_node_of_another_system_has_no_members(capsys: pytest.CaptureFixture[str]) -> None:
    with BackgroundHost(Settings(name="here", compile="never", discover=False), control="here"):
        assert main(["members"]) == 2
    expected = "system = flooding: expected a failure detector, because other systems have no"
    assert expected in capsys.readouterr().err


def test_metrics_and_page_have_the_members() -> None:
    from tests.live.monitoring.test_open_metrics import fetched

    async def program() -> None:
        async with Service(SETTINGS, ServiceSettings(metrics="0", page="0")) as one:
            nodes = one.host.nodes
            async with asyncio.timeout(_LONGEST_S):
                while any(node.members is None or not node.members.all() for node in nodes):
                    await asyncio.sleep(0.02)
            _, content = await fetched(one.addresses["metrics"], "/metrics")
            for line in (
                'halfway_members{state="trusted"} 2.0', 'halfway_members{state="suspected"} 0.0',
                'halfway_member_changes_total{state="trusted"} 2.0',
                'halfway_member_changes_total{state="suspected"} 0.0',
            ):  # fmt: skip
                assert line in content.splitlines()
            _, state = await fetched(one.addresses["page"], "/state.json")
            (member,) = json.loads(state)["members"]
            assert (member["name"], member["state"]) == ("here-1", "trusted")

    asyncio.run(program())


def member_states(name: str) -> dict[str, str]:
    """What the node of a process says of its members, by name."""
    place = next((one for one in running() if one.name == name), None)
    if place is None:
        return {}
    answers = ask(place, MembersRequest())
    return {one.name: str(one.state) for one in answers if isinstance(one, MemberAnswer)}


def process(folder: Path, system: str, name: str, *peers: str) -> "subprocess.Popen[bytes]":
    """A node in a process of its own, which answers in time on a busy machine, too."""
    values = quick(system) | {key: SLOWER[key] for key in quick(system).keys() & SLOWER.keys()}
    options = [word for key, value in values.items() for word in ("-o", f"{key}={value}")]
    command = [
        sys.executable, "-m", "halfway", "node", "--system", system, "--name", name,
        "--state", str(folder / name), "--no-discover", "--interpreted", *options,
        *(word for peer in peers for word in ("--peer", peer)),
    ]  # fmt: skip
    log = (folder / f"{name}.log").open("ab")
    return subprocess.Popen(command, stdout=log, stderr=log, env=dict(os.environ))


def address(name: str) -> str:
    """The address of a node in another process."""
    until(lambda: name in {one.name for one in running()})
    place: ControlSocket = next(one for one in running() if one.name == name)
    answer = answer_of(place, StatusRequest())
    assert isinstance(answer, StatusAnswer)
    return str(answer.status["address"])


def until_members(name: str, states: dict[str, str]) -> None:
    """Wait until a node knows exactly these members, in these states."""
    until(lambda: sorted(member_states(name).items()) == sorted(states.items()))


def until_state(name: str, member: str, state: str) -> None:
    """Wait until a node has a member in a state."""
    until(lambda: member_states(name).get(member) == state)


@pytest.mark.parametrize(
    "system",
    [name if name == "swim" else pytest.param(name, marks=pytest.mark.slow) for name in DETECTORS],
)
@pytest.mark.long
def test_a_killed_process_is_suspected_by_all_and_trusted_after_its_restart(
    tmp_path: Path, system: str
) -> None:
    (tmp_path / "run").mkdir(0o700)
    running_now = {"a": process(tmp_path, system, "a")}
    try:
        peers = [address("a")]
        for name in "bcd":
            running_now[name] = process(tmp_path, system, name, *peers)
            peers.append(address(name))
        for name in "abcd":
            others = dict.fromkeys(sorted(set("abcd") - {name}), "trusted")
            until_members(name, others)
        running_now["d"].send_signal(signal.SIGKILL)
        running_now["d"].wait()
        for name in "abc":
            until_state(name, "d", "suspected")
        running_now["d"] = process(tmp_path, system, "d", *peers[:3])
        for name in "abc":
            until_state(name, "d", "trusted")
        until(lambda: set(member_states("d").values()) == {"trusted"})
        log = (tmp_path / "a.log").read_text()
        assert "halfway: a suspects d (" in log
        assert "again" in log
        assert "Traceback" not in log
    finally:
        for one in running_now.values():
            one.kill()
            one.wait()
