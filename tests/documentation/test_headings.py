"""A link to a heading of a page leads there, in a checkout's pages and on the documentation site.

The two make the anchor of a heading differently: a run of spaces and dashes becomes one dash on the
site only. A heading whose anchors differ cannot have a link.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

from tests.house.sources import REPOSITORY

_HEADING = re.compile(r"^#{1,6} +(.+?) *$", re.MULTILINE)
_LINK = re.compile(r"\]\(([^)\s:]*)#([^)\s]+)\)")
_LINKED_TEXT = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)


def in_a_checkout(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def on_the_site(heading: str) -> str:
    plain = unicodedata.normalize("NFKD", heading).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", plain).strip().lower())


def anchors(page: str, anchor_of: Callable[[str], str]) -> set[str]:
    headings = _HEADING.findall(_BLOCK.sub("", page))
    return {anchor_of(_LINKED_TEXT.sub(r"\1", heading)) for heading in headings}


def lost_links(file: Path) -> Iterator[str]:
    """The links of a page to headings that do not exist."""
    text = _BLOCK.sub("", file.read_text("utf-8"))
    for path, anchor in _LINK.findall(text):
        target = (file.parent / path).resolve() if path else file
        if target.suffix != ".md" or not target.is_file():
            continue
        for anchor_of in (in_a_checkout, on_the_site):
            if anchor not in anchors(target.read_text("utf-8"), anchor_of):
                yield f"{file.name}: {path}#{anchor}: no heading {anchor_of.__name__}"


def test_every_link_to_a_heading_leads_there() -> None:
    pages = [*REPOSITORY.glob("*.md"), *REPOSITORY.glob("docs/**/*.md")]
    assert len(pages) > 50
    assert [link for page in pages for link in lost_links(page)] == []


def test_a_link_to_no_heading_is_found(tmp_path: Path) -> None:
    page = tmp_path / "a.md"
    page.write_text('# One word\n## kind = "x"\n[a](#one-word) [b](#two) [c](a.md#kind--x)\n')
    assert list(lost_links(page)) == [
        "a.md: #two: no heading in_a_checkout", "a.md: #two: no heading on_the_site",
        "a.md: a.md#kind--x: no heading on_the_site",
    ]  # fmt: skip
