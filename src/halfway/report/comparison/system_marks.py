"""The mark of a system in plots and tables: a colour and a shape."""

from collections.abc import Sequence

# Colours of the style sheet: Okabe and Ito's palette, then the text colour and a grey.
_COLOURS = 8
_SHAPES = (
    "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0 -8 0z",  # disc
    "M-3.6 -3.6h7.2v7.2h-7.2z",  # square
    "M0 -4.9L4.6 3.4H-4.6z",  # triangle
    "M0 -5.2L4.4 0L0 5.2L-4.4 0z",  # diamond
    "M0 4.9L4.6 -3.4H-4.6z",  # triangle, point down
    "M-1.5 -4.6h3v3.1h3.1v3h-3.1v3.1h-3v-3.1h-3.1v-3h3.1z",  # plus
    "M-4.4 -2.3L-2.3 -4.4L0 -2.1L2.3 -4.4L4.4 -2.3L2.1 0L4.4 2.3L2.3 4.4L0 2.1L-2.3 4.4"
    "L-4.4 2.3L-2.1 0z",  # cross
    "M0 -5L4.8 -1.5L3 4H-3L-4.8 -1.5z",  # pentagon
    "M-5 -2.2h10v4.4h-10z",  # bar
)


def colour(place: int) -> str:
    """The CSS class with the colour of a system's mark, by its index in the comparison."""
    return f"s{place % _COLOURS}"


def mark(place: int, x: float = 0.0, y: float = 0.0, size: float = 1.0) -> str:
    """The mark of a system: its shape at a point of an SVG, in the current colour."""
    scale = f" scale({size:g})" if size != 1.0 else ""
    shape = _SHAPES[place % len(_SHAPES)]
    return f'<path transform="translate({x:.1f} {y:.1f}){scale}" d="{shape}"/>'


def badge(place: int) -> str:
    """The mark of a system in a line of text of a comparison."""
    return (
        f'<svg class="badge-mark {colour(place)}" viewBox="-6 -6 12 12" width="12" height="12" '
        f'aria-hidden="true">{mark(place)}</svg>'
    )


def dashes(place: int) -> str:
    """The dash pattern of a system's lines in plots, by its index in the comparison."""
    patterns: Sequence[str] = ("", "7 3", "2 3", "9 3 2 3", "5 5")
    pattern = patterns[place % len(patterns)]
    return f' stroke-dasharray="{pattern}"' if pattern else ""
