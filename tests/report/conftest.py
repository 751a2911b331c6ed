"""The page of an invented comparison, open in a browser."""

from collections.abc import Iterator

import pytest

from halfway.report.comparison.comparison_page import write_comparison_page
from tests.report.browser import CHROMIUM, Browser
from tests.report.comparison_specimens import NAMES, SYSTEMS, replay, results, world


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for the tests of a module; without a Chromium they are skipped."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    folder = tmp_path_factory.mktemp("page")
    on, moving = world(names=NAMES), world(moves=True, names=NAMES)
    replays = [*(replay(system, on) for system in SYSTEMS[:3]), replay(SYSTEMS[3], moving)]
    write_comparison_page(results(), replays, folder / "index.html", "halfway compare mesh.toml")
    with Browser(folder / "profile") as browser:
        browser.open(folder / "index.html")
        browser.until("document.querySelector('.board').dataset.ready === 'yes'")
        yield browser
