"""The status page: its state, who may read it, and what a browser shows."""

import asyncio
import json
import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from halfway.live.interface.service import Service, ServiceSettings
from halfway.live.monitoring.status_page import _map
from halfway.problem import Problem
from tests.live.control.test_members_command import SETTINGS
from tests.live.interface.test_service import service
from tests.live.monitoring.test_open_metrics import fetched
from tests.live.runtime.test_nodes import run, until
from tests.report.browser import CHROMIUM, Browser


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HALFWAY_RUN", str(tmp_path))


def test_the_state_has_nodes_links_events_and_drops() -> None:
    async def program() -> None:
        async with service("a", page="0") as one, service("b", one) as two:
            here, there = one.host.nodes[0], two.host.nodes[0]
            await until(here.links.table.neighbours)
            await until(there.links.table.neighbours)
            here.subscribe("#", lambda _: None)
            await there.publish("rooms/hall", b"12345")
            await until(lambda: here.counts["delivered"])
            head, content = await fetched(one.addresses["page"], "/state.json")
            assert "200 OK" in head
            state = json.loads(content)
            assert {node["name"]: node["own"] for node in state["nodes"]} == {"a": True, "b": False}
            assert state["links"] == [sorted([here.node_id, there.node_id])]
            assert state["counts"]["delivered"] == 1
            assert state["drops"] == here.drops.by_reason()
            (event,) = state["events"]
            assert (event["topic"], event["size"]) == ("rooms/hall", 5)
            assert event["publisher"] == there.node_id

    run(program)


def test_a_neighbour_has_its_name_even_if_another_neighbour_reports_it_first() -> None:
    heard = {
        5: SimpleNamespace(hello=SimpleNamespace(name="five", links=[6, 7])),
        6: SimpleNamespace(hello=SimpleNamespace(name="six", links=[5])),
    }
    table = SimpleNamespace(heard=lambda: heard, neighbours=lambda: [5, 6])
    node = SimpleNamespace(node_id=1, name="one", links=SimpleNamespace(table=table))
    host: Any = SimpleNamespace(nodes=[node])
    names, links = _map(host)
    assert names == {1: "one", 5: "five", 6: "six", 7: "7"}
    assert links == {(1, 5), (1, 6), (5, 6), (5, 7)}


def test_only_browsers_of_this_machine_may_read_it() -> None:
    async def program() -> None:
        async with service("a", page="0") as one:
            head, _ = await fetched(one.addresses["page"], "/state.json", host="evil.example")
            assert "403" in head
            head, _ = await fetched(one.addresses["page"], "/", host="127.0.0.1:1")
            assert "200" in head
            assert "default-src 'none'" in head
        with pytest.raises(Problem, match=r"page = 0\.0\.0\.0:0: expected an address on loopback"):
            service("a", page="0.0.0.0:0")

    run(program)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_the_map_and_asks_only_its_node(tmp_path: Path) -> None:
    async def program() -> None:
        async with service("hall", page="0") as one, service("attic", one) as two:
            here, there = one.host.nodes[0], two.host.nodes[0]
            await until(here.links.table.neighbours)
            await until(there.links.table.neighbours)
            here.subscribe("#", lambda _: None)
            await there.publish("rooms/<b>hall</b>", b"12345")
            await until(lambda: here.counts["delivered"])
            await asyncio.to_thread(watch, one, tmp_path)

    def watch(one: Service, folder: Path) -> None:
        address = f"http://{one.addresses['page']}/"
        with Browser(folder / "profile") as browser:
            browser("Page.navigate", url=address)
            browser.until("document.body?.dataset.ready === 'yes'")
            texts = "[...document.querySelectorAll('#map text')].map(t => t.textContent)"
            names = browser.tell(f"{texts}.sort().join()")
            assert names == "attic,hall"
            assert browser.tell("document.querySelectorAll('#map line.own').length") == 1
            text = browser.tell("document.querySelector('#events').textContent")
            assert "rooms/<b>hall</b>" in text
            assert browser.tell("document.querySelector('#security').className") == "unsafe"
            if picture := os.environ.get("HALFWAY_PICTURE"):
                browser.picture(Path(picture))
            assert browser.complaints == []
            assert browser.requests
            assert all(url.startswith((address, "data:")) for url in browser.requests)

    run(program)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_the_members_of_a_failure_detector_instead_of_events(
    tmp_path: Path,
) -> None:
    async def program() -> None:
        async with Service(SETTINGS, ServiceSettings(page="0")) as one:
            members = one.host.nodes[0].members
            assert members is not None
            await until(members.all)
            await asyncio.to_thread(watch, one, tmp_path)

    def watch(one: Service, folder: Path) -> None:
        with Browser(folder / "profile") as browser:
            browser("Page.navigate", url=f"http://{one.addresses['page']}/")
            browser.until("document.body?.dataset.ready === 'yes'")
            row = browser.tell("document.querySelector('#members tr').textContent")
            assert row.startswith("here-1trusted")
            assert browser.tell("document.querySelector('#events-section').offsetParent === null")
            assert browser.tell("document.querySelector('#members-section').offsetParent !== null")
            assert browser.complaints == []

    run(program)
