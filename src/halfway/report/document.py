"""The frame of a self-contained HTML document, used by all pages."""

import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files


def asset(folder: str, name: str) -> str:
    """Return the text of an HTML document's style sheet or script, from a folder of the report."""
    return files(f"halfway.report.{folder}").joinpath(name).read_text(encoding="utf-8")


def prose(text: str) -> str:
    """Return a text of an HTML document as HTML; text between backticks becomes code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


def plain(text: str) -> str:
    """Return a text of an HTML document for an attribute: without backticks."""
    return text.replace("`", "")


def header(
    brand: str, title: str, byline: str, facts: Mapping[str, str], alarm: str, inner: str = ""
) -> str:
    """Return the header of an HTML document. facts: name -> HTML. alarm: a text on failed runs, or
    "".
    """
    listed = "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in facts.items())
    errors = f'<p class="alarm">{alarm}</p>' if alarm else ""
    return (
        f'<header><p class="brand">Halfway · {brand}</p><h1>{escape(title)}</h1>'
        f'<p class="byline">{escape(byline)}</p>{errors}{inner}'
        f'<dl class="facts">{listed}</dl></header>'
    )


def section(name: str, title: str, inner: str) -> str:
    """Return a section of an HTML document, with a heading; title and inner are HTML."""
    return (
        f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{title}</h2>'
        f"{inner}</section>"
    )


def document(title: str, style: str, body: str, script: str) -> str:
    """Return the self-contained HTML document as text. It loads nothing from outside."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        # Blocks requests of embedded drawings too.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
        f"<title>{escape(title)} · Halfway</title><style>{style}</style></head>"
        f"<body>{body}<script>{script}</script></body></html>\n"
    )
