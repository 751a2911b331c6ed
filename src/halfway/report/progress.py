"""How far a long command is: a bar for people, a few plain lines for logs, all on stderr."""

from types import TracebackType
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

_LINES = 5  # plain lines a phase


class Told:
    """Call it with (done, total) as often as you like, or name the phase at hand.

    As a context manager it takes the bar away when the command ends, however it ends.
    """

    def __init__(self, stream: TextIO, phase: str, *, bar: bool) -> None:
        self._stream, self._phase, self._said = stream, phase, -1
        self._bar = _bar(Console(file=stream)) if bar else None
        self._task = self._bar.add_task(phase, total=None) if self._bar else None

    def __enter__(self) -> "Told":
        if self._bar:
            self._bar.start()
        else:
            self._say(self._phase)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._bar:
            self._bar.stop()

    def phase(self, name: str) -> None:
        """Say that something else begins, of unknown length."""
        self._phase, self._said = name, -1
        if self._bar and self._task is not None:
            self._bar.reset(self._task, description=name, total=None)
        else:
            self._say(name)

    def __call__(self, done: int, total: int) -> None:
        """Say how many runs of how many are done."""
        self.count("simulating", "runs", done, total)

    def count(self, doing: str, what: str, done: int, total: int) -> None:
        """Say how many things of how many are done."""
        if doing != self._phase:
            self._phase, self._said = doing, -1
        if self._bar and self._task is not None:
            self._bar.update(self._task, description=doing, completed=done, total=total)
            return
        step = _LINES * done // max(total, 1)
        if step > self._said:
            self._said = step
            self._say(f"{done} of {total} {what}")

    def _say(self, line: str) -> None:
        print(f"halfway: {line}", file=self._stream, flush=True)


def _bar(console: Console) -> Progress:
    return Progress(
        SpinnerColumn(),
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        console=console,
        transient=True,
        expand=True,
    )
