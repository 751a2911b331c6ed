"""SVG files as inline elements of a page: no prolog, unique ids, a label, theme colours."""

import re
from collections.abc import Mapping
from html import escape

_PROLOG = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
# matplotlib's rule for all elements would apply to the whole page.
_STYLE = re.compile(r"<style[^>]*>\s*\*\s*\{([^}]*)\}\s*</style>")
_NAMESPACE = re.compile(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"')
_ID = re.compile(r'\bid="([^"]+)"')
_LABELLED = re.compile(r'<(\w+)([^<>]*?) aria-label="([^"]*)"([^<>]*?)/>')
_ARIA = re.compile(r'\s(?:aria-[a-z]+|role)="[^"]*"')


def embedded(svg: str, name: str, label: str, colours: Mapping[str, str] | None = None) -> str:
    """Return `svg` for a page: an inline element with the role of an image and the text `label`.

    `name` makes its ids unique on the page; `colours` maps the drawing's colours to the page's.
    """
    inner = _PROLOG.sub("", svg).strip()
    for drawn, themed in (colours or {}).items():
        inner = inner.replace(f'"{drawn}"', f'"{themed}"')
    inner = _LABELLED.sub(r"<\1\2\4><title>\3</title></\1>", inner)
    inner = _ARIA.sub("", _NAMESPACE.sub("", inner))
    inner = _unique_ids(inner, name)
    rules = ";".join(rule.strip() for rule in _STYLE.findall(inner))
    inner = _STYLE.sub("", inner)
    head = f'<svg role="img" aria-label="{escape(label)}"' + (f' style="{rules}"' if rules else "")
    return re.sub(r"<svg\b", lambda _: head, inner, count=1)


def _unique_ids(svg: str, name: str) -> str:
    for old in sorted(set(_ID.findall(svg)), key=len, reverse=True):
        new = f"{name}-{old}"
        svg = svg.replace(f'id="{old}"', f'id="{new}"')
        svg = svg.replace(f"url(#{old})", f"url(#{new})").replace(f'"#{old}"', f'"#{new}"')
    return svg
