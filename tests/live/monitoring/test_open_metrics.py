"""The metrics of a node: names, units, sums, and a number of series that does not grow."""

import asyncio
import json
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from halfway.live.drops import Drop
from halfway.live.interface.service import Service
from halfway.live.mesh import Event
from halfway.live.seconds_histogram import BOUNDS_S, SecondsHistogram
from tests.live.interface.test_service import service
from tests.live.runtime.test_nodes import run, until

# name -> type, unit. A change of this table breaks the dashboards of users.
NAMES = {
    "halfway": ("info", ""),
    "halfway_datagrams": ("counter", ""),
    "halfway_datagram_bytes": ("counter", "bytes"),
    "halfway_records": ("counter", ""),
    "halfway_dropped": ("counter", ""),
    "halfway_datagrams_refused": ("counter", ""),
    "halfway_records_refused": ("counter", ""),
    "halfway_shortfalls": ("counter", ""),
    "halfway_events": ("counter", ""),
    "halfway_delivery_seconds": ("histogram", "seconds"),
    "halfway_nodes": ("gauge", ""),
    "halfway_neighbours": ("gauge", ""),
    "halfway_nodes_heard": ("gauge", ""),
    "halfway_subscriptions": ("gauge", ""),
    "halfway_topics": ("gauge", ""),
    "halfway_bodies": ("gauge", ""),
    "halfway_retained": ("gauge", ""),
    "halfway_compiled": ("gauge", ""),
    "halfway_loop_lag_seconds": ("gauge", "seconds"),
    "halfway_kept_pending": ("gauge", ""),
    "halfway_kept_expired": ("counter", ""),
    "halfway_kept_missed": ("counter", ""),
    "halfway_journal_bytes": ("gauge", "bytes"),
    "halfway_journal_failed": ("gauge", ""),
    "halfway_fsync_seconds": ("summary", "seconds"),
    "halfway_door_clients": ("gauge", ""),
    "halfway_door_sessions": ("gauge", ""),
    "halfway_door_dropped": ("counter", ""),
}
DASHBOARD = Path(__file__).parents[3] / "examples/live/grafana-dashboard.json"


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path))


async def fetched(address: str, path: str, host: str = "localhost") -> tuple[str, str]:
    """The head and the content of a page."""
    name, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(name, int(port))
    writer.write(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
    head, _, content = (await reader.read()).decode().partition("\r\n\r\n")
    writer.close()
    return head, content


async def metrics(of: Service) -> dict[str, float]:
    """The samples of a service: name and labels -> value."""
    head, content = await fetched(of.addresses["metrics"], "/metrics")
    assert "application/openmetrics-text" in head
    families = list(text_string_to_metric_families(content))
    assert {one.name: (one.type, one.unit) for one in families} == NAMES
    return {
        f"{sample.name}{sorted(sample.labels.items())}": sample.value
        for one in families for sample in one.samples
    }  # fmt: skip


def test_names_units_and_sums(tmp_path: Path) -> None:
    async def program() -> None:
        async with (
            service("a", mqtt="0", metrics="0", state=tmp_path / "a") as one,
            service("b", one) as two,
        ):
            here, there = one.host.nodes[0], two.host.nodes[0]
            await until(here.links.table.neighbours)
            await until(there.links.table.neighbours)
            got: list[Event] = []
            here.subscribe("#", got.append)
            for k in range(7):
                await there.publish("x", b"%d" % k)
            await until(lambda: len(got) == 7)
            await here.publish("y", b"")
            found = await metrics(one)
            assert found["halfway_events_total[('what', 'delivered')]"] == 8
            assert found["halfway_events_total[('what', 'published')]"] == 1
            assert found["halfway_delivery_seconds_count[]"] == 7  # those of other nodes
            assert found["halfway_delivery_seconds_bucket[('le', '+Inf')]"] == 7
            assert found["halfway_neighbours[]"] == 1
            assert found["halfway_datagrams_total[('direction', 'received')]"] > 0
            for why in Drop:
                number = here.drops.by_reason().get(why, 0)
                assert found[f"halfway_dropped_total[('reason', '{why}')]"] == number
            before = len(found)
            for k in range(40):
                await there.publish(f"user/text/{k}", b"")
                await asyncio.sleep(0.005)  # the interpreted nodes of one loop take turns
            await until(lambda: len(got) >= 48)
            assert len(await metrics(one)) == before  # no label has a topic

    run(program)


@pytest.mark.slow
def test_a_hundred_thousand_topics_add_no_series(tmp_path: Path) -> None:
    async def program() -> None:
        async with service("a", mqtt="0", metrics="0", state=tmp_path / "a") as one:
            here, got = one.host.nodes[0], list[str]()
            here.stepper.compile()
            here.subscribe("#", lambda event: got.append(event.topic))
            await here.publish("before", b"")
            before = await metrics(one)
            for k in range(100_000):
                await here.publish(f"user/{k}/text", b"")
            after = await metrics(one)
            assert len(set(got)) == 100_001
            assert after["halfway_events_total[('what', 'published')]"] == 100_001
            assert after.keys() == before.keys()
            assert not any("user" in name for name in after)

    asyncio.run(program())


def test_buckets_hold_what_is_observed() -> None:
    histogram = SecondsHistogram()
    for seconds in (0.0, BOUNDS_S[0], BOUNDS_S[0] * 1.01, 1e9):
        histogram.observe(seconds)
    assert histogram.counts[:2] == [2, 1]
    assert histogram.counts[-1] == 1
    assert sum(histogram.counts) == 4


def test_other_requests_are_refused() -> None:
    async def program() -> None:
        async with service("a", metrics="0") as one:
            address = one.addresses["metrics"]
            assert "404" in (await fetched(address, "/other"))[0]
            reader, writer = await asyncio.open_connection(*address.split(":"))
            writer.write(b"POST /metrics HTTP/1.1\r\n\r\n")
            assert b"405" in await reader.read()
            writer.close()
            reader, writer = await asyncio.open_connection(*address.split(":"))
            writer.write(b"x" * 20_000)
            assert b"400" in await reader.read()
            writer.close()

    run(program)


def test_the_dashboard_uses_metrics_that_exist() -> None:
    import re

    dashboard = json.loads(DASHBOARD.read_text())
    words = {
        word
        for panel in dashboard["panels"] for target in panel["targets"]
        for word in re.findall(r"halfway_\w+", target["expr"])
    }  # fmt: skip
    suffixes = re.compile("_(total|bucket|sum|count)$")
    assert words
    assert {suffixes.sub("", word) for word in words} <= NAMES.keys()
