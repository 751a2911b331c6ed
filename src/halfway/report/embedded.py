"""SVG files made fit to live inside a page: no prolog, ids of their own, a name, theme colours."""

import re
from collections.abc import Mapping
from html import escape

_PROLOG = re.compile(r"<\?xml.*?\?>|<!DOCTYPE.*?>|<!--.*?-->|<metadata>.*?</metadata>", re.DOTALL)
# matplotlib's rule for everything would reach out of its picture into the page.
_STYLE = re.compile(r"<style[^>]*>\s*\*\s*\{([^}]*)\}\s*</style>")
_NAMESPACE = re.compile(r'\s(?:xmlns(?::\w+)?|version)="[^"]*"')
_ID = re.compile(r'\bid="([^"]+)"')
_LABELLED = re.compile(r'<(\w+)([^<>]*?) aria-label="([^"]*)"([^<>]*?)/>')
_ARIA = re.compile(r'\s(?:aria-[a-z]+|role)="[^"]*"')


def embedded(svg: str, name: str, label: str, colours: Mapping[str, str] | None = None) -> str:
    """`svg` as an inline element that reads as one picture with `label` as its text.

    `name` makes its ids unique on the page; `colours` maps colours as drawn to the page's own.
    """
    inner = _PROLOG.sub("", svg).strip()
    for drawn, ours in (colours or {}).items():
        inner = inner.replace(f'"{drawn}"', f'"{ours}"')
    inner = _LABELLED.sub(r"<\1\2\4><title>\3</title></\1>", inner)
    inner = _ARIA.sub("", _NAMESPACE.sub("", inner))
    inner = _own_ids(inner, name)
    rules = ";".join(rule.strip() for rule in _STYLE.findall(inner))
    inner = _STYLE.sub("", inner)
    head = f'<svg role="img" aria-label="{escape(label)}"' + (f' style="{rules}"' if rules else "")
    return re.sub(r"<svg\b", lambda _: head, inner, count=1)


def _own_ids(svg: str, name: str) -> str:
    for found in sorted(set(_ID.findall(svg)), key=len, reverse=True):
        ours = f"{name}-{found}"
        svg = svg.replace(f'id="{found}"', f'id="{ours}"')
        svg = svg.replace(f"url(#{found})", f"url(#{ours})").replace(f'"#{found}"', f'"#{ours}"')
    return svg
