"""The verdict page: well-formed, complete, self-contained, and working in a browser."""

import re
import shutil
import subprocess
from html.parser import HTMLParser
from pathlib import Path

import pytest

from halfway.pipeline.reproduction.figures import Drawing
from halfway.problem import Problem
from halfway.report.embedded import embedded
from halfway.report.verdicts.kept_pictures import KeptPictures
from halfway.report.verdicts.reproduction_folder import write_report
from halfway.report.verdicts.verdict_page import page, write_page
from tests.report.specimens import asynchrony_verdicts, load_verdicts, report

VOID = {"meta", "br", "hr", "img", "input", "link", "source", "wbr"}
MOST_BYTES = 3_000_000
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("chrome")


class Outline(HTMLParser):
    """What opens and closes, what links where, and every id."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.crossed: list[str] = []
        self.ids: list[str] = []
        self.links: list[str] = []
        self.rows: list[str] = []
        self.headings: list[int] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given[name] for name in ("src", "href", "xlink:href") if name in given]
        self.rows += [given["data-verdict"]] if "data-verdict" in given else []
        if re.fullmatch(r"h\d", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.crossed.append(tag)


@pytest.fixture(scope="module")
def text() -> str:
    return page(report(), KeptPictures())


@pytest.fixture(scope="module")
def outline(text: str) -> Outline:
    return Outline(text)


def test_every_element_is_closed_and_every_id_is_its_own(outline: Outline) -> None:
    assert (outline.open, outline.crossed) == ([], [])
    assert len(outline.ids) == len(set(outline.ids))


def test_nothing_is_asked_of_the_network(text: str, outline: Outline) -> None:
    assert all(link.startswith("#") for link in outline.links)
    assert "http://" not in text
    assert "https://" not in text
    assert "@import" not in text
    assert "url(" not in re.sub(r"url\(#[\w-]+\)", "", text)
    assert "default-src 'none'" in text


def test_links_lead_somewhere(outline: Outline) -> None:
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)


def test_every_verdict_is_there(text: str, outline: Outline) -> None:
    verdicts = [*asynchrony_verdicts(), *load_verdicts()]
    assert outline.rows == [verdict.verdict.replace(" ", "-") for verdict in verdicts]
    assert "31 % above the printed mean, outside the interval" in text
    assert "64 judged values" in text
    assert "&lt;b&gt;few&lt;/b&gt; nodes &amp; half" in text
    assert "<b>few" not in text


def test_the_head_has_title_authors_digest_and_command(text: str) -> None:
    for words in (
        "Failure Detection with Directional Walks &amp; Traces", "A. Author, B. Writer, 2013",
        "5f3a9c01d2e47b68", "Halfway 0.1.0", "halfway reproduce directional-walks --scale paper",
        "walking", "75%",
    ):  # fmt: skip
        assert words in text


def test_headings_descend_by_one(outline: Outline) -> None:
    assert outline.headings[0] == 1
    steps = zip(outline.headings, outline.headings[1:], strict=False)
    assert all(after - before <= 1 for before, after in steps)


def test_every_plot_has_a_text(text: str) -> None:
    labels = re.findall(r'<svg role="img" aria-label="([^"]+)"', text)
    assert len(labels) == 1 + 2 + 2 + 4
    assert labels[0] == "Two walks and the path between them"
    assert "median at n=1500" in labels[1]


def test_light_dark_narrow_and_print_styles(text: str) -> None:
    for media in ("prefers-color-scheme:dark", "max-width", "media print", "reduced-motion"):
        assert media in text


def test_it_is_small_and_the_same_each_time(text: str) -> None:
    assert len(text.encode()) < MOST_BYTES
    assert page(report(), KeptPictures()) == text


def test_runs_in_error_are_not_hidden() -> None:
    given = report()
    shown = page(type(given)(**{**given.__dict__, "errors": 3}), KeptPictures())
    assert "3 runs failed" in shown


def test_writing_keeps_the_old_page_if_it_cannot_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "index.html").mkdir()
    with pytest.raises(Problem, match="could not be written"):
        write_page(tmp_path / "index.html", report(), KeptPictures())
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_a_report_consists_of_tables_figures_and_the_page(tmp_path: Path) -> None:
    assert write_report(tmp_path, report()) == tmp_path / "index.html"
    left = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert left == {
        "index.html", "verdicts.csv", "verdicts.jsonl", "summaries.csv", ".pictures",
        *(f"figures/directional-walks-figure-{number}.svg" for number in (4, 5, 6, 7)),
    }  # fmt: skip


def test_embedding_keeps_a_picture_to_itself() -> None:
    drawn = (
        '<?xml version="1.0"?><!DOCTYPE svg><svg xmlns="http://x" version="1.1" width="9">'
        "<metadata>made by</metadata><style>*{stroke-linecap: butt}</style>"
        '<clipPath id="a"/><clipPath id="ab"/><g clip-path="url(#a)" role="x" aria-hidden="true">'
        '<path aria-label="n: 5" fill="#123456" d="M0 0"/><use xlink:href="#ab"/></g></svg>'
    )
    assert embedded(drawn, "one", 'a "name"', {"#123456": "currentColor"}) == (
        '<svg role="img" aria-label="a &quot;name&quot;" style="stroke-linecap: butt" width="9">'
        '<clipPath id="one-a"/><clipPath id="one-ab"/><g clip-path="url(#one-a)">'
        '<path fill="currentColor" d="M0 0"><title>n: 5</title></path>'
        '<use xlink:href="#one-ab"/></g></svg>'
    )


def chromium(profile: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    assert CHROMIUM is not None
    return subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
            "--no-first-run", "--disable-background-networking", "--disable-component-update",
            "--disable-sync", "--enable-logging=stderr", f"--user-data-dir={profile}", *arguments,
        ],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_it_and_filters_without_a_complaint(tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    file.write_text(page(report(Drawing(lambda: "<svg/>", "empty")), KeptPictures()))
    press = "<script>document.querySelector('[data-only=differs]').click()</script></body>"
    (tmp_path / "pressed.html").write_text(file.read_text().replace("</body>", press))
    done = chromium(tmp_path / "profile", "--dump-dom", f"file://{tmp_path}/pressed.html")
    assert "CONSOLE" not in done.stderr
    assert "1 of 64 rows" in done.stdout
    assert len(re.findall(r"<tr[^>]*data-verdict[^>]*hidden", done.stdout)) == 63


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_narrow_screen_never_scrolls_sideways(text: str, tmp_path: Path) -> None:
    file = tmp_path / "index.html"
    wide = "<script>document.title=document.documentElement.scrollWidth</script></body>"
    file.write_text(text.replace("</body>", wide))
    done = chromium(
        tmp_path / "profile", "--dump-dom", "--window-size=500,900", f"file://{tmp_path}/index.html"
    )
    found = re.search(r"<title>(\d+)</title>", done.stdout)
    assert found
    assert int(found[1]) <= 500
