"""The frame of a self-contained HTML document, used by all pages."""

from html import escape


def document(title: str, style: str, body: str, script: str) -> str:
    """The document as text. It loads nothing from outside."""
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
