"""The progress of a long command on stderr: a bar on a terminal, a few plain lines in a log."""

from collections.abc import Sequence
from typing import TextIO

from rich import progress
from rich.console import Console

_LINES = 5  # plain lines per phase


class ProgressDisplay:
    """The progress display of a long command, called with (done, total) at any time, and with each
    phase's name.

    As a context manager it removes the bar when the command ends.
    """

    def __init__(self, stream: TextIO, phase: str, *, bar: bool) -> None:
        self._stream, self._phase, self._step = stream, phase, -1
        self._compiled = (-1, -1)
        self._bar = _bar(Console(file=stream)) if bar else None
        self._task = self._bar.add_task(phase, total=None) if self._bar else None

    def __enter__(self) -> "ProgressDisplay":
        if self._bar:
            self._bar.start()
        else:
            self._print(self._phase)
        return self

    def __exit__(self, *_error: object) -> None:
        if self._bar:
            self._bar.stop()

    def phase(self, name: str) -> None:
        """Show the beginning of a phase of unknown length on the progress display."""
        self._phase, self._step = name, -1
        if self._bar and self._task is not None:
            self._bar.reset(self._task, description=name, total=None)
        else:
            self._print(name)

    def __call__(self, done: int, total: int) -> None:
        """Show the number of finished runs on the progress display."""
        self.count("simulating", "runs", done, total)

    def count(self, phase: str, what: str, done: int, total: int) -> None:
        """Show a phase's progress, its number of finished items; `what` names them."""
        if phase != self._phase:
            self._phase, self._step = phase, -1
        if self._bar and self._task is not None:
            self._bar.update(self._task, description=phase, completed=done, total=total)
            return
        step = _LINES * done // max(total, 1)
        if step > self._step:
            self._step = step
            self._print(f"{done} of {total} {what}")

    def compiling(
        self, done: int, total: int, running: Sequence[str], left_s: float | None
    ) -> None:
        """Show on the progress display the systems under compilation, the number of compiled
        systems, and the estimated time.
        """
        left = "" if left_s is None else f", about {left_s:.0f} s left"
        if self._bar and self._task is not None:
            text = f"compiling {' and '.join(running) or 'systems'}{left}"
            self._bar.update(self._task, description=text, completed=done, total=total)
        elif (done, total) != self._compiled:
            self._compiled = done, total
            self._print(f"{done} of {total} systems compiled{left}")

    def _print(self, line: str) -> None:
        print(f"halfway: {line}", file=self._stream, flush=True)


def _bar(console: Console) -> progress.Progress:
    return progress.Progress(
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(bar_width=None),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("left"),
        progress.TimeRemainingColumn(),
        console=console,
        transient=True,
        expand=True,
    )
