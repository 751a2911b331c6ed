"""The contrast of the text on the pages, in light and dark, computed as WCAG 2.2 defines it."""

from collections.abc import Iterator, Sequence

import pytest

from halfway.report.verdicts.kept_pictures import KeptPictures
from halfway.report.verdicts.verdict_page import write_page
from tests.report.browser import CHROMIUM, Browser
from tests.report.specimens import report

NORMAL = 4.5  # least contrast of WCAG 2.2 at level AA
# Each visible text: the contrast of its colour on the colours below it.
CONTRASTS = """(() => {
  const channel = v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
  const light = c => 0.2126 * channel(c[0]) + 0.7152 * channel(c[1]) + 0.0722 * channel(c[2]);
  const dot = Object.assign(document.createElement('canvas'), {width: 1, height: 1})
    .getContext('2d', {willReadFrequently: true});
  const rgba = text => {
    dot.clearRect(0, 0, 1, 1);
    dot.fillStyle = text;
    dot.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = dot.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map(k => top[3] * top[k] + (1 - top[3]) * below[k]);
  const ground = element => {
    const layers = [];
    for (let one = element; one; one = one.parentElement)
      layers.unshift(rgba(getComputedStyle(one).backgroundColor));
    return layers.reduce((below, top) => over(top, below), rgba('Canvas').slice(0, 3));
  };
  const found = [];
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walk.nextNode()) {
    const element = walk.currentNode.parentElement, box = element.getBoundingClientRect();
    const style = getComputedStyle(element), inSvg = element.closest('svg');
    if (!walk.currentNode.data.trim() || !box.width || style.visibility !== 'visible') continue;
    if (element.closest('script, style, title, [aria-hidden=true], :disabled')) continue;
    const below = ground(inSvg ? inSvg.parentElement : element);
    const ink = over(rgba(inSvg ? style.fill : style.color), below);
    const [a, b] = [light(ink), light(below)].sort((one, other) => other - one);
    found.push([(a + 0.05) / (b + 0.05), element.tagName + ' ' + walk.currentNode.data.trim()]);
  }
  return found;
})()"""


def contrasts(page: Browser, scheme: str) -> Sequence[tuple[float, str]]:
    """The contrast of each text of a page in "light" or "dark", with the text."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    page("Emulation.setEmulatedMedia", features=features)
    return [(contrast, text) for contrast, text in page.tell(CONTRASTS)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_of_a_comparison_can_be_read(page: Browser, scheme: str) -> None:
    page.tell("document.querySelectorAll('details').forEach(one => one.open = true)")
    found = contrasts(page, scheme)
    assert len(found) > 200
    assert [one for one in found if one[0] < NORMAL] == []


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """The page of an invented reproduction, open in a browser."""
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    folder = tmp_path_factory.mktemp("reproduction")
    write_page(folder / "index.html", report(), KeptPictures())
    with Browser(folder / "profile") as browser:
        browser.open(folder / "index.html")
        yield browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.long
def test_every_text_of_a_reproduction_can_be_read(reproduction: Browser, scheme: str) -> None:
    found = contrasts(reproduction, scheme)
    assert len(found) > 50
    assert [one for one in found if one[0] < NORMAL] == []
