"""Tools of a comparison's map: zoom, search, names, keys, legend, links, saved files."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from tests.report.browser import Browser
from tests.report.comparison.test_map_player import picture
from tests.report.comparison_specimens import NAMES, SYSTEMS

CANVAS = ".views canvas"
CAMERA = "[halfway.camera.zoom, halfway.camera.x, halfway.camera.y]"
_SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(autouse=True)
def afresh(page: Browser) -> Iterator[None]:
    """Each test begins with all systems, no event, no node, and the whole field."""
    page.tell(
        "halfway.toggle(false); halfway.show(-1); halfway.followEvent(-1); halfway.clearSearch();"
        "halfway.camera.set(1, 0.5, 0.5); halfway.begins.value = 'event'; halfway.setSpeed(0.5);"
        "halfway.seek(5)"
    )
    settle(page)
    yield
    assert page.complaints == []


def settle(page: Browser) -> None:
    """Wait for pictures that are due, and for the end of a gesture."""
    page.until("!halfway.waiting && !halfway.camera.moving")


def camera(page: Browser) -> tuple[float, float, float]:
    zoom, x, y = page.tell(CAMERA)
    return zoom, x, y


def focus(page: Browser, on: str = ".board") -> None:
    page.tell(f"document.querySelector('{on}').focus()")


def text(page: Browser, selector: str) -> str:
    found: str = page.tell(f"document.querySelector('{selector}').textContent")
    return found


def texts(page: Browser, selector: str) -> list[str]:
    found: list[str] = page.tell(
        f"[...document.querySelectorAll('{selector}')].map((one) => one.textContent)"
    )
    return found


def test_buttons_zoom_all_panels_about_the_middle(page: Browser) -> None:
    whole = picture(page)
    page.click(".zoom-in")
    page.click(".zoom-in")
    settle(page)
    assert camera(page) == pytest.approx((2.25, 0.5, 0.5))
    assert picture(page) != whole
    assert (
        page.tell("new Set(halfway.shownViews.map(({view}) => view.scale / view.wide)).size") == 2
    )
    page.click(".zoom-out")
    page.click(".zoom-all")
    settle(page)
    assert camera(page) == (1, 0.5, 0.5)
    assert picture(page) == whole


def test_the_wheel_zooms_with_ctrl_or_on_the_focused_map_and_else_scrolls(page: Browser) -> None:
    focus(page, ".play")
    page.wheel(CANVAS, -100)
    page.until("document.querySelector('.message').textContent.startsWith('Ctrl + wheel')")
    assert camera(page)[0] == 1
    page.wheel(CANVAS, -100, ctrl=True)
    page.until("halfway.camera.zoom > 1.5")
    once = camera(page)[0]
    focus(page)
    page.wheel(CANVAS, -200)
    page.until(f"halfway.camera.zoom > {once}")


def test_a_point_under_the_wheel_stays_where_it_is(page: Browser) -> None:
    page.tell("halfway.show(0)")
    at = "[halfway.panels[0].view.px(150), halfway.panels[0].view.py(150)]"
    before = page.tell(at)
    page.tell(f"halfway.camera.zoomAt(halfway.panels[0].view, ...{at}, 3)")
    settle(page)
    assert camera(page)[0] == 3
    assert page.tell(at) == pytest.approx(before, abs=0.01)


def test_a_drag_moves_the_field_and_is_no_click(page: Browser) -> None:
    page.tell("halfway.show(0); halfway.camera.set(4, 0.5, 0.5)")
    settle(page)
    x = page.tell("halfway.panels[0].view.px(7)")
    page.drag(CANVAS, -80, 30)
    settle(page)
    assert page.tell("halfway.panels[0].view.px(7)") == pytest.approx(x - 80, abs=0.5)
    assert page.tell("halfway.chosen") == -1


def test_two_fingers_zoom(page: Browser) -> None:
    page("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
    page.tell("halfway.show(0); halfway.camera.set(1.2, 0.5, 0.5)")
    settle(page)
    page.pinch(CANVAS, 80, 240)
    page("Emulation.setTouchEmulationEnabled", enabled=False)
    settle(page)
    assert camera(page)[0] == pytest.approx(3.6, rel=0.05)


def test_the_field_never_leaves_the_panel(page: Browser) -> None:
    page.tell("halfway.camera.set(2, -5, 9)")
    assert camera(page) == (2, 0.25, 0.75)
    page.tell("halfway.camera.set(0.1, 0.9, 0.9)")
    assert camera(page) == (1, 0.5, 0.5)


def test_keys_zoom_and_move(page: Browser) -> None:
    focus(page)
    page.press("+")
    page.press("+")
    assert camera(page)[0] == pytest.approx(2.25)
    page.press("ArrowRight", shift=True)
    settle(page)
    assert camera(page)[1] > 0.5
    assert page.tell("halfway.t") == 5
    page.press("-")
    page.press("*")
    assert camera(page) == (1, 0.5, 0.5)


def test_a_search_marks_matches_and_enter_chooses_the_first(page: Browser) -> None:
    page.tell("halfway.show(0)")
    before = picture(page)
    page.click(".find")
    page.type(".find", "mesh-01")
    assert page.tell("[...halfway.found]") == list(range(10, 20))
    assert text(page, ".matches") == "10 nodes match. Enter chooses the first."
    assert picture(page) != before
    page.type(".find", "mesh-019")
    page.press("Enter")
    assert page.tell("[halfway.chosen, ...halfway.found]") == [19]
    assert text(page, ".node h3") == "mesh-019"
    page.tell("halfway.camera.set(6, 0.5, 0.5)")
    page.type(".find", "mesh-150")
    page.press("Enter")
    settle(page)
    x, y = page.tell("[halfway.panels[0].view.px(150), halfway.panels[0].view.py(150)]")
    wide, high = page.tell("[halfway.panels[0].view.wide, halfway.panels[0].view.high]")
    assert (0 < x < wide, 0 < y < high) == (True, True)
    page.press("Escape")
    assert page.tell("halfway.chosen") == -1
    page.type(".find", "nowhere")
    assert text(page, ".matches") == "No node has “nowhere” in its name."


def test_typing_in_the_search_is_no_key_of_the_map(page: Browser) -> None:
    page.click(".find")
    for key in ("2", " ", "n"):
        page.press(key)
    assert page.tell("[halfway.shown, halfway.follow, halfway.playing]") == [-1, -1, False]
    assert page.tell("document.querySelector('.find').value") == "2 n"


def test_hostile_names_are_text_everywhere(page: Browser) -> None:
    page.tell("halfway.show(0)")
    for row in range(4):
        page.tell(f"halfway.choose({row})")
        assert text(page, ".node h3") == NAMES[row]
        assert page.tell(f"halfway.description(halfway.runs[0], {row})").startswith(NAMES[row])
    assert page.tell("document.querySelector('#x')") is None
    assert page.tell("document.querySelectorAll('#node-names option').length") == 200
    page.tell("halfway.followEvent(5)")
    listed = texts(page, ".receivers button")
    due = page.tell("[...halfway.runs[0].expected[5]]")
    assert sorted(one.split(":")[0] for one in listed) == sorted(NAMES[row] for row in due)
    publisher = page.tell("halfway.world().columns.publisher[5]")
    assert f"from {NAMES[publisher]} at 6.0 s" in texts(page, ".events option")[6]


def test_a_click_on_a_node_marks_it(page: Browser) -> None:
    page.tell("halfway.show(0)")
    settle(page)
    x, y = page.tell(
        "[halfway.panels[0].view.px(60) / halfway.panels[0].view.wide,"
        " halfway.panels[0].view.py(60) / halfway.panels[0].view.high]"
    )
    page.click(CANVAS, x, y)
    assert page.tell("halfway.chosen") == 60
    assert page.tell("document.querySelector('.views canvas').title").startswith("mesh-060")


def test_the_nodes_with_the_most_transmissions_are_listed(page: Browser) -> None:
    page.tell("halfway.show(0); halfway.seek(12)")
    counts = page.tell("[...halfway.runs[0].sentBy(12)]")
    top = sorted(range(200), key=lambda row: (-counts[row], row))[:8]
    assert texts(page, ".node li button") == [
        f"{NAMES[row]}: about {round(counts[row])}" for row in top
    ]
    page.click(".node li button")
    assert page.tell("halfway.chosen") == top[0]


def test_keys_and_the_overlay_name_every_system(page: Browser) -> None:
    focus(page)
    page.press("2")
    assert texts(page, ".views figcaption button") == ["gossip"]
    page.press("]")
    assert texts(page, ".views figcaption button") == [SYSTEMS[2]]
    page.press("?")
    assert page.tell("document.querySelector('.help').open")
    assert texts(page, ".system-keys kbd") == ["0", "1", "2", "3", "4"]
    page.press("1")  # no key of the map while the overlay is open
    assert texts(page, ".views figcaption button") == [SYSTEMS[2]]
    page.click(".close")
    assert not page.tell("document.querySelector('.help').open")
    keys = page.tell("Array.from({length: 20}, (_, k) => halfway.systemKey(k))")
    assert keys[:11] == [*"123456789", "a", "b"]
    assert len(set(keys)) == 20
    assert not set(keys) & set("flnps/?[]<>+-*0")


def test_a_caption_shows_its_system_alone_and_all_again(page: Browser) -> None:
    page.click(".views figure:nth-child(3) .alone")
    assert texts(page, ".views figcaption button") == [SYSTEMS[2]]
    page.click(".alone")
    assert len(texts(page, ".views figcaption button")) == 4


def test_the_legend_has_only_what_is_on_the_map(page: Browser) -> None:
    page.tell("halfway.show(0)")
    free = texts(page, ".signs li")
    assert {"walk of the publisher", "walk of the subscriber", "walks met"} <= set(free)
    assert "the publisher" not in free
    page.tell("halfway.followEvent(5)")
    followed = texts(page, ".signs li")
    assert {"the publisher", "a subscriber that never receives the event"} <= set(followed)
    assert "another message, to one neighbour" in set(free) - set(followed)
    page.tell(
        "halfway.plain = {}; for (const name of ['steps', 'met', 'links', 'homes']) {"
        "halfway.plain[name] = halfway.runs[0][name].t; halfway.runs[0][name].t = []; }"
        "halfway.walkedBefore = halfway.runs[0].walked; halfway.runs[0].walked = [];"
        "halfway.updateLegend()"
    )
    bare = texts(page, ".signs li")
    page.tell(
        "for (const [name, t] of Object.entries(halfway.plain)) halfway.runs[0][name].t = t;"
        "halfway.runs[0].walked = halfway.walkedBefore; halfway.updateLegend()"
    )
    assert set(followed) - set(bare) == {
        "walk of the publisher", "walk of the subscriber", "walks met", "a link of the overlay",
        "a home cell, with its topics",
    }  # fmt: skip


def test_signs_of_the_legend_are_distinct(page: Browser) -> None:
    page.tell("halfway.show(0); halfway.followEvent(5); halfway.choose(60)")
    drawn = page.tell("[...document.querySelectorAll('.signs canvas')].map((c) => c.toDataURL())")
    assert len(drawn) == len(set(drawn)) > 12
    walks = page.tell(
        "Array.from({length: 5}, (_, k) => { const c = document.createElement('canvas');"
        "const ink = {...halfway.ink, walks: ['#000000']};"  # distinct without colours too
        "halfway.signOfWalk(k)(c.getContext('2d'), ink); return c.toDataURL(); })"
    )
    assert len(set(walks)) == 5


def test_a_link_restores_the_moment(page: Browser) -> None:
    page.tell(
        "halfway.show(1); halfway.followEvent(5); halfway.setSpeed(0.1); halfway.seek(6.25);"
        "halfway.choose(2); halfway.camera.set(3, 0.4, 0.6)"
    )
    page.until("location.hash.startsWith('#map?system=gossip')")
    page.until("location.hash.includes('view=')")
    address, shown = page.tell("location.href"), picture(page)
    state = (
        "[halfway.shown, halfway.t, halfway.follow, halfway.speed, halfway.chosen,"
        f"...{CAMERA}, halfway.begins.value]"
    )
    before = page.tell(state)
    assert before == [1, 6.25, 5, 0.1, 2, 3, 0.4, 0.6, "event"]
    page("Page.navigate", url="about:blank")
    page("Page.navigate", url=address)
    page.until("document.querySelector('.board')?.dataset.ready === 'yes'")
    settle(page)
    assert page.tell(state) == before
    assert picture(page) == shown
    assert page.tell("location.href") == address


def test_a_link_to_what_is_not_there_is_reported(page: Browser) -> None:
    page.tell("location.hash = '#map?system=none&t=3&node=unknown-7&event=99&view=1,x,2&speed=-1'")
    page.until("halfway.t === 3")
    said = text(page, ".message")
    for part in ("the system none", "the event 99", "the node unknown-7"):
        assert part in said
    assert camera(page) == (1, 0.5, 0.5)
    page.tell("location.hash = '#map'")  # an ordinary link on the page
    assert page.tell("halfway.t") == 3


def test_play_begins_at_the_first_event_or_at_0(page: Browser) -> None:
    page.choose(".begin", "start")
    assert page.tell("halfway.t") == 0
    page.choose(".begin", "event")
    assert page.tell("halfway.t") == pytest.approx(0.825)
    page.tell("halfway.seek(20); halfway.setSpeed(0.05); halfway.toggle(true)")
    page.until("halfway.t > 0.825 && halfway.t < 5")
    focus(page)
    page.press(" ")
    page.tell("halfway.setSpeed(0.5)")
    page.press("Home")
    assert page.tell("halfway.t") == pytest.approx(0.825)
    page.press("Home")
    assert page.tell("halfway.t") == 0


def test_reduced_motion_plays_two_pictures_a_second(page: Browser) -> None:
    page.prefer("reduced-motion", "reduce")
    page.tell("halfway.frames.length = 0; halfway.seek(1); halfway.toggle(true)")
    page.until("halfway.t > 1.4")
    page.tell("halfway.toggle(false)")
    # In half a second, the run advances by 0.25 s at half its speed.
    pictures, at = page.tell("[halfway.frames.length, halfway.t]")
    assert 0 < pictures <= (at - 1.0) / 0.25 + 1e-6
    page.prefer("reduced-motion", "no-preference")


def test_controls_stay_in_the_window_on_desktop_and_phone(page: Browser) -> None:
    inside = (
        "((name) => { const b = document.querySelector(name).getBoundingClientRect();"
        "return b.top >= -1 && b.bottom <= innerHeight + 1; })"
    )
    for wide, high in ((1280, 600), (390, 700)):
        page("Emulation.setDeviceMetricsOverride", width=wide, height=high, deviceScaleFactor=1,
             mobile=False)  # fmt: skip
        for where in ("first", "last"):
            page.tell(
                f"document.querySelector('.views figure:{where}-child canvas')"
                ".scrollIntoView({block: 'center', behavior: 'instant'})"
            )
            assert page.tell(f"{inside}('.play')"), (wide, where)
            assert page.tell(f"{inside}('.zoom-in')"), (wide, where)
            assert page.tell(f"{inside}('.systems')"), (wide, where)
    page("Emulation.setDeviceMetricsOverride", width=1280, height=900, deviceScaleFactor=1,
         mobile=False)  # fmt: skip


def test_controls_have_names(page: Browser) -> None:
    nameless = page.tell(
        "[...document.querySelectorAll('.board button, .board select, .board input')].filter((one)"
        " => !(one.ariaLabel || one.textContent.trim() || one.labels?.length))"
        ".map((one) => one.className)"
    )
    assert nameless == []
    assert page.tell(
        "[...document.querySelectorAll('.views canvas')].every((one) => one.ariaLabel)"
    )


def test_paper_has_the_panels_and_the_legend_in_light_and_no_controls(page: Browser) -> None:
    light = page.tell("halfway.ink.name")
    page.colours("dark")
    page.until(f"halfway.ink.name !== {light!r}")
    page("Emulation.setEmulatedMedia", media="print",
         features=[{"name": "prefers-color-scheme", "value": "dark"}])  # fmt: skip
    page.until("halfway.ink.text === '#1c2733'")
    shown = page.tell(
        "['.views', '.signs', '.systems', '.transport', '.tools', '.board aside'].map((name) =>"
        "getComputedStyle(document.querySelector(name)).display !== 'none')"
    )
    assert shown == [True, True, False, False, False, False]
    page("Emulation.setEmulatedMedia", media="")
    page.colours("light")
    page.until(f"halfway.ink.name === {light!r}")


def saved(folder: Path, suffix: str) -> Path:
    """The complete file with a suffix in a folder, once it is there."""
    end = time.monotonic() + 60
    while not (found := [one for one in folder.iterdir() if one.suffix == suffix]):
        assert time.monotonic() < end, "nothing was saved"
        time.sleep(0.05)
    return found[0]


def elements(root: Any, name: str) -> list[Any]:
    return list(root.iter(f"{_SVG}{name}"))


def test_the_view_is_saved_as_svg(page: Browser, tmp_path: Path) -> None:
    page.downloads(tmp_path)
    page.tell("halfway.followEvent(5); halfway.seek(6.06); halfway.choose(1)")
    page.click(".save")
    file = saved(tmp_path, ".svg")
    assert file.name == "sensor-field-all-6.06s.svg"
    root = ElementTree.fromstring(file.read_text("utf-8"))
    panels = [one for one in elements(root, "svg") if one is not root]
    assert len(panels) == 4
    words = [one.text for one in elements(root, "text")]
    assert {"sensor <field>", "event 5, 6.060 s", *SYSTEMS, "the publisher"} <= set(words)
    assert NAMES[1].removesuffix("1)</script>")[:20] in " ".join(words)
    assert elements(root, "script") == []
    assert all(len(elements(one, "path")) > 20 for one in panels)
    outside = [one.get("href") for one in elements(root, "image")]
    assert all(one.startswith("data:image/png") for one in outside)
    assert text(page, ".message").startswith("Saved sensor-field-all-6.06s.svg")


def test_the_run_is_saved_as_a_film(page: Browser, tmp_path: Path) -> None:
    page.downloads(tmp_path)
    page.tell("halfway.show(0); halfway.setSpeed(0.05)")
    page.click(".film")
    assert text(page, ".film") == "Stop and save"
    assert page.tell("halfway.playing")
    page.tell("halfway.setSpeed(20)")
    file = saved(tmp_path, ".webm")
    page.until("halfway.film === null")
    data = file.read_bytes()
    assert data[:4] == b"\x1a\x45\xdf\xa3"  # the mark of WebM
    assert len(data) > 10_000
    assert page.tell("halfway.t") == 20
    assert text(page, ".film") == "Record film"


def test_a_browser_that_cannot_record_says_so(page: Browser) -> None:
    page.tell("halfway.recorder = window.MediaRecorder; window.MediaRecorder = undefined")
    page.click(".film")
    assert text(page, ".message").startswith("This browser cannot record a film")
    assert page.tell("halfway.film ?? null") is None
    page.tell("window.MediaRecorder = halfway.recorder")


def test_nothing_was_asked_of_the_network(page: Browser) -> None:
    schemes = {one.partition(":")[0] for one in page.requests}
    assert schemes <= {"file", "blob", "about", "data"}  # none leaves the page
