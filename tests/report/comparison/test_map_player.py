"""The player of a comparison's map: what it draws, its clock, its systems, its events."""

import re
from itertools import pairwise

import pytest

from tests.report.browser import Browser
from tests.report.comparison_specimens import SYSTEMS


def picture(browser: Browser, selector: str = ".views canvas") -> str:
    value = browser.tell(f"document.querySelector('{selector}').toDataURL()")
    assert isinstance(value, str)
    return value


def test_all_systems_are_drawn_at_first(page: Browser) -> None:
    assert page.tell("document.querySelectorAll('.views canvas').length") == 4
    assert page.tell("document.querySelector('.views').classList.contains('all')")
    drawn = page.tell(
        "[...document.querySelectorAll('.views canvas')].map((c) => c.getContext('2d')"
        ".getImageData(0, 0, c.width, c.height).data.some((one) => one > 0))"
    )
    assert drawn == [True] * 4


def test_play_and_pause_by_click_and_by_key(page: Browser) -> None:
    before, begin = picture(page), page.tell("halfway.t")
    assert begin == pytest.approx(1.0 - 0.35 * 0.5, abs=1e-6)  # just before the first event
    page.click(".play")
    page.until(f"halfway.t > {begin + 0.05}")
    assert page.tell("document.querySelector('.play').getAttribute('aria-label')") == "Pause"
    page.click(".play")
    at = page.tell("halfway.t")
    assert not page.tell("halfway.playing")
    assert picture(page) != before
    page.tell("document.querySelector('.board').focus()")
    page.press(" ")
    page.until(f"halfway.t > {at}")
    page.press(" ")
    assert not page.tell("halfway.playing")


def test_scrubbing_moves_time_and_the_same_time_is_the_same_picture(page: Browser) -> None:
    page.click(".range", x=0.25)
    early = page.tell("halfway.t")
    assert 4.0 < early < 6.0
    assert page.tell("document.querySelector('.clock').textContent") == f"{early:.3f} s"
    shown = picture(page)
    page.click(".range", x=0.75)
    assert page.tell("halfway.t") > 14.0
    assert picture(page) != shown
    page.tell(f"halfway.seek({early})")
    assert picture(page) == shown
    page.tell("document.querySelector('.board').focus()")
    page.press("ArrowRight")
    assert page.tell("halfway.t") == pytest.approx(early + 0.2, abs=1e-6)
    page.press("ArrowLeft")
    page.press(">")
    assert page.tell("document.querySelector('.speed').selectedOptions[0].textContent") == "1×"


def test_one_system_is_picked_by_its_button_and_by_its_number(page: Browser) -> None:
    page.click("[data-system='1']")
    assert page.tell("document.querySelector('.views figcaption button').textContent") == "gossip"
    assert page.tell("document.querySelector('[data-system=\"1\"]').ariaPressed") == "true"
    page.tell("document.querySelector('.board').focus()")
    page.press("4")
    assert page.tell("document.querySelector('.views figcaption button').textContent") == SYSTEMS[3]
    page.press("0")
    assert page.tell("document.querySelectorAll('.views canvas').length") == 4


def test_a_followed_event_lists_its_subscribers(page: Browser) -> None:
    page.click("[data-system='0']")
    page.tell("halfway.seek(10)")
    unfollowed = picture(page)
    page.choose(".events", "5")
    assert page.tell("halfway.t") < 6.0  # just before its publication
    page.tell("halfway.seek(10)")
    assert picture(page) != unfollowed
    run = "halfway.runs[0]"
    due, got = (page.tell(f"[...{run}.{what}]") for what in
                ("expected[5]", "spreadOf(5).got.keys()"))  # fmt: skip
    listed = page.tell(
        "[...document.querySelectorAll('.receivers button')].map((b) => b.textContent)"
    )
    assert len(listed) == len(due) > len(got) > 0
    assert sum("not received" in one for one in listed) == len(due) - len(got)
    assert page.tell("document.querySelector('.details').textContent").startswith(
        f"received by {len(got)} of {len(due)}, the last after"
    )
    path = page.tell(f"{run}.spreadOf(5).path({got[0]})")
    links = page.tell("[...halfway.world().links()]")
    pairs = {frozenset(links[k : k + 2]) for k in range(0, len(links), 2)}
    assert all(frozenset(pair) in pairs for pair in pairwise(path))
    before = picture(page)
    page.click(".receivers li:first-child button")
    assert picture(page) != before
    page.tell("document.querySelector('.board').focus()")
    page.press("n")
    assert page.tell("document.querySelector('.events').value") == "6"
    page.press("Escape")
    assert page.tell("document.querySelector('.events').value") == "-1"


def test_faults_and_counts_are_those_of_the_time(page: Browser) -> None:
    down = "[...halfway.runs[0].down].reduce((a, b) => a + b)"
    page.tell("halfway.show(0); halfway.seek(5)")
    assert (page.tell(down), page.tell("halfway.runs[0].cut.size")) == (1, 0)
    page.tell("halfway.seek(7)")
    assert (page.tell(down), page.tell("halfway.runs[0].cut.size")) == (1, 1)
    page.tell("halfway.seek(9)")
    assert page.tell(down) == 0
    page.tell("halfway.seek(20)")
    value = page.tell("document.querySelector('.views figcaption span').textContent")
    expected = page.tell("halfway.runs[0].totalDue")
    assert re.search(rf"8,000 sent · \d+ of {expected} delivered", value)


def test_no_error_and_no_request(page: Browser) -> None:
    assert page.complaints == []
    assert len(page.requests) == 1


def test_nothing_fails_before_the_runs_are_unpacked(page: Browser) -> None:
    waiting = (
        "const read = Response.prototype.arrayBuffer;"
        "Response.prototype.arrayBuffer = async function () {"
        " await new Promise((go) => { window.unpack = () => { unpack = () => 0; go(); }; });"
        " return read.call(this); };"
    )
    script = page("Page.addScriptToEvaluateOnNewDocument", source=waiting)["identifier"]
    page.colours("light")
    page("Page.navigate", url=page.tell("location.href.split('#')[0]") + "?late")
    page.until("window.unpack && window.halfway")
    page.colours("dark")
    page.tell("location.hash = '#map?system=gossip&t=3'")
    page.press("?")
    page("Emulation.setDeviceMetricsOverride", width=900, height=900, deviceScaleFactor=1,
         mobile=False)  # fmt: skip
    page.until("(unpack(), document.querySelector('.board').dataset.ready === 'yes')")
    page.until("halfway.t === 3")
    assert page.tell("halfway.shown") == SYSTEMS.index("gossip")
    assert page.tell("halfway.ink.name") == page.tell(
        "getComputedStyle(document.querySelector('.board')).getPropertyValue('--ink').trim()"
    )
    assert page.complaints == []
    page("Page.removeScriptToEvaluateOnNewDocument", identifier=script)
    page.colours("light")
