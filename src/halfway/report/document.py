"""One self-contained HTML document: what every page of ours is put into."""

from html import escape


def document(title: str, style: str, body: str, script: str) -> str:
    """The whole document as text. Nothing in it can ask for anything outside it."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        # Holds that promise even for a drawing that somebody adds.
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
        f"<title>{escape(title)} · Halfway</title><style>{style}</style></head>"
        f"<body>{body}<script>{script}</script></body></html>\n"
    )
