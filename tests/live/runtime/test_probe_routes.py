"""`halfway route`: the hops of a probe and of a search, between nodes in this process."""

import json
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from halfway.cli import main
from halfway.live.drops import Drops
from halfway.live.interface.background import BackgroundHost
from halfway.live.runtime.probe_routes import HERE, PASSED_ON, Hop, Routes
from halfway.live.runtime.settings import Settings
from halfway.live.wire.frames import FrameType, frames


@pytest.fixture(params=["flooding", "rumor-routing"])
def ring(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[BackgroundHost]:
    """Six nodes in a ring."""
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path))
    settings = Settings(
        system=request.param, name="n", nodes=6, degree=2, compile="never", discover=False,
        period_s=0.1,
    )  # fmt: skip
    with BackgroundHost(settings, control="n") as host:
        host.wait_for(_linked(host))
        yield host


async def _linked(host: BackgroundHost) -> None:
    import asyncio

    while min(len(node.links.table.neighbours()) for node in host.host.nodes) < 2:
        await asyncio.sleep(0.02)


def _hops(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    return {one["name"]: one for one in map(json.loads, capsys.readouterr().out.splitlines())}


@pytest.mark.long
def test_a_node_is_found_by_its_name(
    ring: BackgroundHost, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["route", "n-2", "--json"]) == 0
    found = _hops(capsys)
    assert set(found) == {"n-1", "n-2"}  # the way through n-1, not that through n-5
    assert (found["n-1"]["hops"], found["n-2"]["hops"]) == (1, 2)
    assert found["n-2"]["parent"] == ring.host.nodes[1].node_id
    assert 0.0 < found["n-2"]["seconds"] < 1.0
    assert main(["route", "n-2"]) == 0
    assert "n-2: 2 hops away" in capsys.readouterr().out


@pytest.mark.parametrize("ring", ["flooding"], indirect=True)
def test_a_search_is_repeated_if_the_answer_is_lost(
    ring: BackgroundHost, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = ring.host.nodes[0].routes
    take, lost = first.on_frame, list[int]()

    def lose_the_first_answers(peer: int, frame_type: int, content: bytes) -> None:
        if frame_type == FrameType.HOP and len(lost) < 4:
            lost.append(peer)
        else:
            take(peer, frame_type, content)

    monkeypatch.setattr(first, "on_frame", lose_the_first_answers)
    assert main(["route", "n-2"]) == 0
    assert "n-2: 2 hops away" in capsys.readouterr().out
    assert len(lost) == 4


@pytest.mark.parametrize("ring", ["flooding"], indirect=True)
def test_a_probe_reports_every_node_and_no_application_has_it(
    ring: BackgroundHost, capsys: pytest.CaptureFixture[str]
) -> None:
    heard: list[object] = []
    far = ring.host.nodes[3]
    ring.call(lambda: far.subscribe("a/#", heard.append))
    assert main(["route", "a/b", "--seconds", "1", "--json"]) == 0
    found = _hops(capsys)
    assert set(found) == {f"n-{k}" for k in range(1, 6)}
    assert found["n-3"]["hops"] == 3
    assert found["n-3"]["why"] == HERE
    assert found["n-3"]["subscriptions"] == 1
    assert sum(bool(one["subscriptions"]) for one in found.values()) == 1
    assert heard == []
    assert far.counts["delivered"] == 0


@pytest.mark.parametrize("ring", ["flooding"], indirect=True)
def test_a_topic_without_subscribers_says_so(
    ring: BackgroundHost, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(ring.host.nodes) == 6
    assert main(["route", "a/b", "--seconds", "0.5"]) == 1
    assert (
        "the event reached 5 nodes, and none of them has a matching subscription"
        in capsys.readouterr().out
    )


def test_a_lone_node_says_that_it_has_no_neighbour(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path))
    lone = Settings(name="lone", network="lone", compile="never", discover=False)
    with BackgroundHost(lone, control="lone"):
        assert main(["route", "a/b", "--seconds", "0.2"]) == 1
    assert "this node has no neighbour" in capsys.readouterr().out


class Line:
    """Nodes in a line, whose frames wait in one queue, with their own clock."""

    def __init__(self, n: int) -> None:
        self.now, self.queue = 0.0, deque[tuple[int, int, bytes]]()
        self.drops = [Drops() for _ in range(n)]
        self.n = n
        self.nodes = [
            Routes(k, f"n{k}", LineLinks(self, k), lambda: self.now, self.drops[k])
            for k in range(n)
        ]

    def run(self) -> None:
        """Deliver every frame a millisecond after it was sent."""
        while self.queue:
            self.now += 0.001
            sender, to, data = self.queue.popleft()
            for frame_type, content in frames(data):
                self.nodes[to].on_frame(sender, frame_type, content)


class LineLinks:
    """The links of one node of a line."""

    def __init__(self, line: Line, k: int) -> None:
        self.line, self.k, self.table = line, k, self

    def neighbours(self) -> list[int]:
        """The nodes beside this one."""
        return [j for j in (self.k - 1, self.k + 1) if 0 <= j < self.line.n]

    def send(self, peer: int, whole: bytes) -> None:
        """Let a frame wait."""
        self.line.queue.append((self.k, peer, whole))


def test_a_search_comes_back_with_every_hop_of_its_way() -> None:
    line, found = Line(9), list[tuple[Hop, float]]()
    line.nodes[0].search("n7", 1, lambda hop, seconds: found.append((hop, seconds)))
    line.run()
    by_node = {hop.node: hop for hop, _ in found}
    assert sorted(by_node) == list(range(1, 8))
    assert all(by_node[k].parent == k - 1 and by_node[k].hops == k for k in by_node)
    assert [k for k in by_node if by_node[k].why == HERE] == [7]
    assert by_node[3].why == PASSED_ON
    assert all(seconds >= 0.002 * 0.5 for _, seconds in found)


def test_a_search_for_nobody_has_no_answer() -> None:
    line, found = Line(4), list[Hop]()
    line.nodes[0].search("n9", 1, lambda hop, _: found.append(hop))
    line.run()
    assert found == []


def test_a_node_passes_on_a_bounded_number_of_searches_a_second() -> None:
    line = Line(2)
    for _ in range(300):
        line.nodes[0].search("nowhere", 1, lambda *_: None)
    while line.queue:  # all within one second
        sender, to, data = line.queue.popleft()
        for frame_type, content in frames(data):
            line.nodes[to].on_frame(sender, frame_type, content)
    assert line.drops[1].by_reason() == {"too many searches": 200}


@pytest.mark.parametrize("content", [b"", b"x" * 12, b"x" * 13, b"x" * 200])
@pytest.mark.parametrize("frame_type", [20, 21])
def test_what_is_no_search_and_no_hop_is_refused(frame_type: int, content: bytes) -> None:
    with pytest.raises((ValueError, UnicodeDecodeError)):
        Line(1).nodes[0].on_frame(0, frame_type, content)
