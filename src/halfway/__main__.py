"""`python -m halfway` and the command `halfway`: an interrupt is never a traceback, nor ignored."""

import signal
import sys
from types import FrameType

_INTERRUPTED = 130
_seen: list[int] = []  # interrupts; a library that is being imported may swallow the exception


def main() -> int:
    """Run `python -m halfway` or the command `halfway`, and return the exit status; an interrupt
    prints no traceback.
    """
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _interrupt)
    try:
        from halfway import cli
        from halfway.cli.terminal.screen import check_interrupts_with

        check_interrupts_with(lambda: bool(_seen))
        status = cli.main()
    except KeyboardInterrupt:
        sys.stderr.write("halfway: interrupted\n")
        return _INTERRUPTED
    return _INTERRUPTED if _seen and status == 0 else status


def _interrupt(number: int, _frame: FrameType | None) -> None:
    _seen.append(number)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
