"""Progress: a few plain lines for logs, a bar for people, and nothing left behind."""

import io

import pytest

from halfway.report.progress import Told


def test_logs_get_a_few_lines_however_often_they_are_told() -> None:
    out = io.StringIO()
    with Told(out, "starting", bar=False) as told:
        for done in range(1001):
            told(done, 1000)
        told.phase("writing")
    lines = out.getvalue().splitlines()
    assert lines[0] == "halfway: starting"
    assert lines[-2:] == ["halfway: 1000 of 1000 runs", "halfway: writing"]
    assert len(lines) <= 9


def test_nothing_to_do_is_no_division_by_zero() -> None:
    out = io.StringIO()
    with Told(out, "starting", bar=False) as told:
        told(0, 0)
    assert "0 of 0" in out.getvalue()


class Terminal(io.StringIO):
    """Where bars are drawn."""

    def isatty(self) -> bool:
        return True


def test_a_bar_takes_every_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    out = Terminal()
    with Told(out, "starting", bar=True) as told:
        told(1, 10)
        told.phase("writing")
    assert "writing" in out.getvalue()
