"""Failure detectors on loopback sockets: members are trusted, suspected when their node ends, and
trusted again when it comes back."""

import asyncio
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from halfway.live.interface.api import LiveNode, blocking_node, node
from halfway.live.limits import DEFAULT
from halfway.live.members import KnownMember, Members, MemberState, Watched
from halfway.live.mesh import Refusal
from halfway.live.runtime.node_identity import next_incarnation
from halfway.live.runtime.settings import Settings
from halfway.live.systems.detectors import MOST_COUNTED
from halfway.live.systems.face import NodeParameters
from halfway.live.systems.live_systems import face_of, most_incarnation
from halfway.live.trace.live_replay import replay
from halfway.live.trace.recorder import Recorder
from halfway.problem import Problem
from halfway.protocols.failure_detectors.member_index import EVICTED
from tests.live.runtime.test_keyed_nodes import admitted
from tests.live.runtime.test_nodes import linked, run, until
from tests.systems import DETECTORS

TRUSTED, SUSPECTED = MemberState.TRUSTED, MemberState.SUSPECTED
# Short times, so that a test takes seconds; each detector takes some of them.
QUICK = {
    "period_s": 0.2, "timeout_s": 1.5, "ping_timeout_s": 0.06, "suspicion_factor": 1.0,
    "suspicion_most": 2.0, "refresh_s": 1.0, "bridge_after_s": 0.5,
}  # fmt: skip


def quick(system: str) -> dict[str, float]:
    """The short times that are options of a detector."""
    face = face_of(system, {}, NodeParameters(1, 1, 1, DEFAULT))
    return {name: value for name, value in QUICK.items() if name in face.values}


def detector(system: str, **settings: Any) -> LiveNode:
    """A node of a detector with short times."""
    return node(
        system, options=quick(system), compile="never", discover=False, period_s=0.2, **settings
    )


def states(mesh: LiveNode, place: int) -> dict[int, MemberState]:
    """What a node of a process says of its members."""
    members = mesh.host.nodes[place].members
    assert members is not None
    return {one.node_id: one.state for one in members.all()}


def failing(errors: list[Any]) -> Callable[[asyncio.AbstractEventLoop, dict[str, Any]], None]:
    """A handler of the loop's exceptions, which the loop otherwise only logs."""
    return lambda _, context: errors.append(context)


@pytest.mark.parametrize("system", DETECTORS)
@pytest.mark.long
def test_members_are_trusted_and_a_node_that_ends_is_suspected(system: str) -> None:
    async def program() -> None:
        errors: list[Any] = []
        asyncio.get_running_loop().set_exception_handler(failing(errors))
        async with detector(system, nodes=4, degree=3, seed=5) as mesh:
            nodes = mesh.host.nodes
            ids = {one.node_id for one in nodes}
            changes = mesh.member_changes()
            await linked(mesh)
            await until(
                lambda: all(
                    states(mesh, place) == dict.fromkeys(ids - {one.node_id}, TRUSTED)
                    for place, one in enumerate(nodes)
                )
            )
            gone = nodes[3]
            gone.stop()
            gone.driver.restart()  # no timer of the node runs any more
            await until(
                lambda: all(states(mesh, place)[gone.node_id] is SUSPECTED for place in range(3))
            )
            assert nodes[0].stepper.refusals() == {}
            assert nodes[0].face.shortfalls() == {}
            seen = [await anext(changes) for _ in range(4)]
            assert {one.node_id for one in seen} == ids - {nodes[0].node_id}
            assert (seen[-1].node_id, seen[-1].state) == (gone.node_id, SUSPECTED)
            assert seen[-1].name == gone.name  # remembered, for the link is gone
            changes.end()
            with pytest.raises(StopAsyncIteration):
                await anext(changes)
        assert errors == []

    run(program)


async def until_state(here: LiveNode, member: int, state: MemberState) -> None:
    """Wait until a node has a member in a state."""
    await until(lambda: states(here, 0).get(member) is state)


def test_a_member_comes_back_with_its_next_incarnation_and_the_log_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def program() -> None:
        async with detector("gossip-counters", name="here") as here:
            peer = f"127.0.0.1:{here.mesh.endpoint.address[1]}"
            for start in (1, 2):
                there = detector(
                    "gossip-counters", name="there", peers=[peer], state=tmp_path / "there"
                )
                async with there:
                    other = there.mesh.node_id
                    await until_state(here, other, TRUSTED)
                    (member,) = here.members()
                    assert member.incarnation == start
                await until_state(here, other, SUSPECTED)
            assert not (tmp_path / "there" / "journal").exists()  # it has no events to keep
            status = here.status()["members"]
            assert status == {
                "trusted": 0, "suspected": 1, "changes": {"trusted": 2, "suspected": 2},
            }  # fmt: skip
            name = f"there ({other})"
            said = [record.getMessage() for record in caplog.records]
            assert [one for one in said if one.startswith("here")] == [
                f"here trusts {name}, a new member", f"here suspects {name}",
                f"here trusts {name} again", f"here suspects {name}",
            ]  # fmt: skip

    with caplog.at_level(logging.INFO, "halfway.live.members"):
        run(program)


def test_a_detector_refuses_events_and_other_systems_have_no_members() -> None:
    async def program() -> None:
        async with detector("swim") as one:
            assert not await one.neighbours(least=0)
            for refused in (lambda: one.subscribe("a"), lambda: one.try_publish("a", b"")):
                with pytest.raises(Refusal, match="no events: system = swim: expected a system"):
                    refused()
            with pytest.raises(Refusal, match="no events"):
                await one.publish("a", b"")
        async with node(discover=False, compile="never") as other:
            with pytest.raises(Problem, match="system = flooding: expected a failure detector"):
                other.members()
            assert other.status()["members"] is None

    run(program)


def test_a_program_without_an_event_loop_follows_the_members() -> None:
    with blocking_node("swim", options=quick("swim"), nodes=2, compile="never",
                       discover=False, period_s=0.1) as one:  # fmt: skip
        first = one.member_changes().get(timeout=60)
        assert (first.state, first.since_s) == (TRUSTED, 0.0)
        time.sleep(0.05)
        (member,) = one.members()
        assert member.node_id == first.node_id
        assert member.since_s > 0.0


def test_a_recording_of_a_detector_replays_to_the_same_state(tmp_path: Path) -> None:
    async def program() -> None:
        async with detector("path-gossip", nodes=3, degree=2, seed=2, trace=256) as mesh:
            recorder = Recorder(mesh.mesh, tmp_path / "one.trace")
            await until(lambda: len(states(mesh, 0)) == 2)
            assert recorder.close() > 10

    run(program)
    (found,) = replay(tmp_path / "one.trace")
    assert found.is_same


def test_incarnations_fit_into_the_records_of_a_detector(tmp_path: Path) -> None:
    assert most_incarnation("gossip-counters") == MOST_COUNTED == 2**21 - 1
    assert most_incarnation("swim") > 10**9
    assert 0 <= next_incarnation(None, 0, MOST_COUNTED) <= MOST_COUNTED
    folder = tmp_path / "s"
    folder.mkdir()
    (folder / "incarnation-0").write_text(str(MOST_COUNTED - 1))
    assert next_incarnation(folder, 0, MOST_COUNTED) == MOST_COUNTED
    with pytest.raises(Problem, match="the folder counted 2,097,151 starts"):
        next_incarnation(folder, 0, MOST_COUNTED)


def test_a_node_with_keys_counts_its_starts_where_the_clock_does_not_fit(tmp_path: Path) -> None:
    files = admitted(tmp_path, "a", "#")
    for system in ("gossip-counters", "walk-probe", "path-gossip"):
        with pytest.raises(Problem, match=f"state: expected a folder, in which a node of {system}"):
            Settings(system=system, **files)
        assert Settings(system=system, state=tmp_path, **files).state == tmp_path
    assert Settings(system="swim", **files).state is None


class Table:
    """The table of a detector, as a test fills it."""

    def __init__(self) -> None:
        self.rows: list[Watched] = []

    def watched(self) -> list[Watched]:
        """All rows."""
        return self.rows

    def watched_member(self, node_id: int) -> Watched | None:
        """One row."""
        return next((row for row in self.rows if row.node_id == node_id), None)


def test_the_times_of_members_stay_bounded_when_the_detector_evicts_members() -> None:
    table, now, names = Table(), [0.0], {0: "zero"}
    members = Members("me", 2, table, lambda: now[0], lambda one: names.get(one, ""))
    for node_id in range(50):
        table.rows = [Watched(one, False, 3) for one in range(max(node_id - 1, 0), node_id + 1)]
        now[0] += 1.0
        members.take(node_id, TRUSTED)
        assert len(members._since) <= 2
        assert len(members._names) <= 1
    assert members.all() == [
        KnownMember(48, "", TRUSTED, 1.0, 3),
        KnownMember(49, "", TRUSTED, 0.0, 3),
    ]
    table.rows = [Watched(49, True, 4)]
    members.take_report("matched", 49)  # a report of the walks
    assert members.changes == {TRUSTED: 50}
    members.take_report("suspected", 49)
    assert members.changes == {TRUSTED: 50, SUSPECTED: 1}
    assert members.totals() == {TRUSTED: 0, SUSPECTED: 1}


def test_followers_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("halfway.live.members.MOST_FOLLOWERS", 1)
    members = Members("me", 2, Table(), lambda: 0.0, lambda _: "")
    got: list[KnownMember] = []
    members.follow(got.append)
    with pytest.raises(Refusal, match="too many followers: limit 1"):
        members.follow(got.append)
    members.take(7, SUSPECTED)
    members.unfollow(got.append)
    members.take(7, TRUSTED)
    assert got == [KnownMember(7, "", SUSPECTED, 0.0, 0)]


@pytest.mark.parametrize("system", DETECTORS)
def test_a_node_counts_the_members_without_room(system: str) -> None:
    face = face_of(system, {}, NodeParameters(1, 1, 1, DEFAULT))
    table: Any = next(part for part in _parts(face.node.state) if hasattr(part, "last_found"))
    table.counts[0, EVICTED] = 3
    assert face.shortfalls() == {"forgotten members": 3}


def _parts(state: Any) -> list[Any]:
    tuples = [part for part in state if isinstance(part, tuple)]
    return tuples + [inner for part in tuples for inner in _parts(part)]


def test_a_table_of_members_has_the_states_of_the_detector() -> None:
    face = face_of("heartbeat", {}, NodeParameters(1, 1, 1, DEFAULT))
    heard = face.node.state.heard
    for rank, (node_id, number, is_suspected) in enumerate([(5, 2 << 31, 0), (9, 3 << 31, 1)]):
        heard.members.node_id[0, rank] = heard.entry[0, rank]["node_id"] = node_id
        heard.members.number[0, rank] = np.int64(number) + 17
        heard.entry[0, rank]["is_suspected"] = is_suspected
    heard.members.known[0] = 2
    members = face.member_view("me", lambda: 0.0, lambda _: "")
    assert members is not None
    assert [(one.node_id, one.state, one.incarnation) for one in members.all()] == [
        (5, TRUSTED, 2), (9, SUSPECTED, 3),
    ]  # fmt: skip
