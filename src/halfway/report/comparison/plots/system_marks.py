"""The mark of a system in plots and tables: a colour, a shape and dashes, in every comparison."""

from collections.abc import Iterable
from zlib import crc32

from halfway.protocols import SYSTEMS

_COLOURS = 12  # of the style sheet
# A system keeps its number, so its mark is the same whichever other systems are compared. Failure
# detectors have the first marks again, because no comparison has failure detectors beside other
# systems.
_NUMBERS = {system: number % _COLOURS for number, system in enumerate(SYSTEMS)}
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
    "M-4.8 0L-2.4 -4.2H2.4L4.8 0L2.4 4.2H-2.4z",  # hexagon
    "M-4 -4.4H4L0.9 0L4 4.4H-4L-0.9 0z",  # hourglass
    "M-4.2 -4.2h8.4v8.4h-8.4zM-1.7 -1.7v3.4h3.4v-3.4z",  # frame
    # User systems.
    "M0 -5.2L1.3 -1.7L5 -1.6L2.1 .7L3.1 4.3L0 2.2L-3.1 4.3L-2.1 .7L-5 -1.6L-1.3 -1.7z",  # star
    "M-4.6 -3.8L0 -1L4.6 -3.8V3.8L0 1L-4.6 3.8z",  # bow tie
    "M-4.6 0a4.6 4.6 0 1 0 9.2 0a4.6 4.6 0 1 0 -9.2 0zM-2 0a2 2 0 1 1 4 0a2 2 0 1 1 -4 0z",  # ring
    "M-4 -4.6L4.8 0L-4 4.6L-1.6 0z",  # arrow
)
_DASHES = ("", "7 3", "2 3", "9 3 2 3", "5 5")
_USER_MARKS = 24  # of user systems: four shapes, six colours


def mark_numbers(systems: Iterable[str]) -> dict[str, int]:
    """Return the number of each system's mark, in the order of the systems.

    A built-in system always has the same mark. A user system's mark follows from its name, and is
    the next one where another user system of the comparison has it already.
    """
    numbers: dict[str, int] = {}
    for system in systems:
        number = _NUMBERS.get(system, _COLOURS + crc32(system.encode()) % _USER_MARKS)
        while number in numbers.values():
            number += 1
        numbers[system] = number
    return numbers


def colour(number: int) -> str:
    """Return the CSS class with the colour of a system's mark."""
    user = number - _COLOURS
    return f"s{number if user < 0 else 2 * user % _COLOURS}"


def mark(number: int, x: float = 0.0, y: float = 0.0, size: float = 1.0) -> str:
    """Return the mark of a system: its shape at a point of an SVG, in the current colour."""
    scale = f" scale({size:g})" if size != 1.0 else ""
    built_in = _COLOURS
    user = built_in + (number - built_in) // 6 % (len(_SHAPES) - built_in)
    shape = _SHAPES[number if number < built_in else user]
    return f'<path transform="translate({x:.1f} {y:.1f}){scale}" d="{shape}"/>'


def badge(number: int) -> str:
    """Return a system's mark for a line of text in a comparison."""
    return (
        f'<svg class="badge-mark {colour(number)}" viewBox="-6 -6 12 12" width="12" height="12" '
        f'aria-hidden="true">{mark(number)}</svg>'
    )


def dashes(number: int) -> str:
    """Return the dash pattern of a system's lines in plots."""
    pattern = _DASHES[number % len(_DASHES)]
    return f' stroke-dasharray="{pattern}"' if pattern else ""
