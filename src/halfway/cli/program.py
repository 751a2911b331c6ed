"""A user's program: its arguments, and its errors as one line with the command line's exit status.

parser = Parser(description=__doc__)
parser.add_argument("--seed", type=whole(0), default=1, help="random seed")
if __name__ == "__main__":
    sys.exit(run(main))
"""

import argparse
from collections.abc import Callable
from typing import NoReturn

from halfway.cli.terminal.screen import report_error
from halfway.problem import Problem


class Parser(argparse.ArgumentParser):
    """The parser of a program's arguments; a wrong argument is a Problem. --help shows defaults."""

    def __init__(self, description: str | None) -> None:
        super().__init__(
            description=description, formatter_class=argparse.RawDescriptionHelpFormatter
        )

    def error(self, message: str) -> NoReturn:
        """Raise the Problem of a program's arguments."""
        what = message.removeprefix("argument ")
        raise Problem(what, remedy="--help lists the arguments")


def run(program: Callable[[], None]) -> int:
    """Run a program, and return its exit status. Errors of the user print no traceback."""
    try:
        program()
    except (Exception, KeyboardInterrupt) as error:  # no error leaves as a traceback
        return report_error(error)
    return 0


def whole(least: int, most: int = 10**9) -> Callable[[str], int]:
    """Return the type of a program's argument: a whole number from `least` to `most`."""

    def read(text: str) -> int:
        try:
            number = int(text)
        except ValueError:
            number = least - 1
        if not least <= number <= most:
            expected = f"a whole number from {least} to {most:,}"
            raise argparse.ArgumentTypeError(f"{text!r}: expected {expected}")
        return number

    return read


def positive(text: str) -> float:
    """Read a program's argument that is a number above 0, as its `type`."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0.0 < number < 1e9:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number above 0")
    return number
