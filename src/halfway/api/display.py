"""The progress of a comparison from Python: a bar on a terminal, plain lines in a notebook."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple

from halfway.problem import Problem
from halfway.report.terminal.progress import ProgressDisplay

Counted = Callable[[int, int], None]  # receives what is done, and of how many


class ProgressReceivers(NamedTuple):
    """The receivers of the progress of a comparison from Python; None is a silent one."""

    runs: Counted | None = None
    compiled: Callable[[int, int, Sequence[str], float | None], None] | None = None


@contextmanager
def shown(progress: bool | Counted | None, phase: str) -> Iterator[ProgressReceivers]:
    """Show the progress of a comparison from Python while the block runs.

    progress: True or False; a function of (done, total); None: show it in a notebook and on a
    terminal only. A notebook gets few plain lines, because these need no extension of the notebook.
    """
    if progress is not None and not isinstance(progress, bool) and not callable(progress):
        what = f"progress = {repr(progress)[:40]}: expected true, false or a function"
        raise Problem(what, remedy="write progress=True, or progress=lambda done, total: ...")
    if callable(progress):
        yield ProgressReceivers(progress)
        return
    notebook, terminal = in_notebook(), sys.stderr.isatty()
    if not (notebook or terminal if progress is None else progress):
        yield ProgressReceivers()
        return
    # A notebook marks stderr as errors.
    stream = sys.stdout if notebook else sys.stderr
    with ProgressDisplay(stream, phase, bar=terminal and not notebook) as display:
        yield ProgressReceivers(display, display.compiling)


def in_notebook() -> bool:
    """Return whether a comparison from Python runs in a notebook, whose kernel displays the
    output.
    """
    return "ipykernel" in sys.modules
