"""Progress: a few plain lines in a log, a bar on a terminal."""

import io

import pytest

from halfway.report.terminal.progress import ProgressDisplay


def test_a_log_gets_a_few_lines_for_many_calls() -> None:
    out = io.StringIO()
    with ProgressDisplay(out, "starting", bar=False) as display:
        for done in range(1001):
            display(done, 1000)
        display.phase("writing")
    lines = out.getvalue().splitlines()
    assert lines[0] == "halfway: starting"
    assert lines[-2:] == ["halfway: 1000 of 1000 runs", "halfway: writing"]
    assert len(lines) <= 9


def test_nothing_to_do_is_no_division_by_zero() -> None:
    out = io.StringIO()
    with ProgressDisplay(out, "starting", bar=False) as display:
        display(0, 0)
    assert "0 of 0" in out.getvalue()


class Terminal(io.StringIO):
    """Where bars are drawn."""

    def isatty(self) -> bool:
        return True


def test_a_bar_takes_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    with ProgressDisplay(out, "starting", bar=True) as display:
        display(1, 10)
        display.phase("writing")
    assert "writing" in out.getvalue()
