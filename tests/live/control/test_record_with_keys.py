"""`halfway record` at a node with keys, and `halfway replay` of the trace, which needs no keys."""

import json
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from halfway.cli import main
from halfway.live.interface.background import BackgroundHost
from halfway.live.mesh import Level
from halfway.live.runtime.settings import Settings
from tests.live.runtime.test_keyed_nodes import admitted


@pytest.mark.long
def test_a_trace_of_a_node_with_keys_replays_without_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path / "run"))
    trace = tmp_path / "hall.trace"
    kitchen, hall = (admitted(tmp_path, name, "#") for name in ("kitchen", "hall"))

    def settings(files: dict[str, Path], *peers: str) -> Settings:
        return Settings(
            **files, peers=peers, state=files["key"].with_suffix(".state"), trace=64,
            compile="never", discover=False, period_s=0.1,
        )  # fmt: skip

    with BackgroundHost(settings(kitchen), control="kitchen") as one:
        writer = one.host.nodes[0]
        peer = f"127.0.0.1:{writer.endpoint.address[1]}"
        with BackgroundHost(settings(hall, peer), control="hall") as two:
            reader, got = two.host.nodes[0], list[str]()
            two.call(lambda: reader.subscribe("a/#", lambda event: got.append(event.topic)))
            _until(lambda: len(reader.links.table.neighbours()) == 1)
            _until(lambda: len(writer.links.table.neighbours()) == 1)

            def publish() -> None:
                time.sleep(0.5)
                for k in range(40):
                    one.wait_for(writer.publish(f"a/{k}", b"x", retain=k == 0))
                one.wait_for(writer.publish("a/kept", b"x", level=Level.KEPT))

            thread = threading.Thread(target=publish)
            thread.start()
            assert main(["record", str(trace), "--seconds", "3", "--node", "hall"]) == 0
            thread.join()
            _until(lambda: "a/kept" in got)
            assert len(set(got)) == 41
    for files in (kitchen, hall):
        files["key"].unlink()
    capsys.readouterr()
    assert main(["replay", str(trace), "--json"]) == 0
    (replayed,) = map(json.loads, capsys.readouterr().out.splitlines())
    assert (replayed["node"], replayed["is_same"]) == ("hall", True)
    assert replayed["records"] > 40


def _until(true: Callable[[], bool]) -> None:
    """Wait until something is true, for 20 s at most."""
    end = time.monotonic() + 20.0
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)
