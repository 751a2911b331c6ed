"""The check of a built site: every link leads somewhere, and no page loads from elsewhere."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Attributes whose target the browser loads by itself.
_LOADED = {
    ("script", "src"), ("img", "src"), ("source", "src"), ("iframe", "src"), ("video", "src"),
    ("object", "data"), ("use", "href"), ("image", "href"),
}  # fmt: skip
_LINKED = {"stylesheet", "preload", "prefetch", "icon", "preconnect", "modulepreload", "manifest"}
_IN_STYLE = re.compile(r"(?:url\(|@import\s+)[\"']?((?:https?:)?//[^\"')\s]+)")


class PageLinks(HTMLParser):
    """The links, loaded files and anchors of a page of the site."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.linked: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the anchors and the targets of a tag on a page of the site."""
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.linked.append(given["href"])
        loads = tag == "link" and bool(_LINKED & set(given.get("rel", "").split()))
        if loads and given.get("href"):
            self.loaded.append(given["href"])
        self.loaded += [value for name, value in given.items() if (tag, name) in _LOADED]
        self.loaded += _IN_STYLE.findall(given.get("style", ""))


def broken_links(site: Path) -> Iterator[str]:
    """Yield the links and loaded files of a site's pages that do not exist, with the page of
    each.
    """
    pages = _pages(site)
    for page, found in pages.items():
        if page.name == "404.html":  # served under any path, so its links are absolute
            continue
        for link in dict.fromkeys([*found.linked, *found.loaded]):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            path = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            path = path / "index.html" if path.is_dir() else path
            if not path.is_file():
                yield f"{page.relative_to(site)}: {link}: no such file"
            elif parts.fragment and path in pages:
                anchor = unquote(parts.fragment)
                if anchor not in pages[path].anchors and not anchor.startswith("__"):
                    yield f"{page.relative_to(site)}: {link}: no such heading"


def external_requests(site: Path) -> Iterator[str]:
    """Yield the files from other machines that a site's pages or styles would load, with their
    place.
    """
    for page, found in _pages(site).items():
        for link in found.loaded:
            if urlsplit(link).netloc:
                yield f"{page.relative_to(site)}: loads {link}"
    for style in sorted(site.rglob("*.css")):
        for link in _IN_STYLE.findall(style.read_text("utf-8")):
            yield f"{style.relative_to(site)}: loads {link}"


def _pages(site: Path) -> dict[Path, PageLinks]:
    site = site.resolve()
    return {page: PageLinks(page.read_text("utf-8")) for page in sorted(site.rglob("*.html"))}
