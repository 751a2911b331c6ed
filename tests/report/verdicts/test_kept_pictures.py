"""A study keeps its pictures: the same values and code are drawn once, other ones anew."""

from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest

from halfway.papers import PAPERS
from halfway.report.verdicts import panel_chart
from halfway.report.verdicts.kept_pictures import KeptPictures
from halfway.report.verdicts.plots import picture_of
from halfway.report.verdicts.reproduction_folder import write_report
from tests.report.specimens import report, summary

FILE = ".pictures"


def drawing(name: str, drawn: list[str]) -> Callable[[], str]:
    """A function that returns a picture, and counts."""

    def draw() -> str:
        drawn.append(name)
        return f"<svg>{name}</svg>"

    return draw


def test_the_same_values_are_drawn_once_and_pictures_that_are_not_used_go(tmp_path: Path) -> None:
    drawn: list[str] = []
    row = summary("load", 50.0, system="walk", n=100)
    other = msgspec.structs.replace(row, boot_mean=(1.0, 2.0))
    for values in ([row], [other], [row, row]):
        kept = KeptPictures(tmp_path)
        svg = kept.svg("json", values, drawing(f"{len(values)} rows", drawn))
        assert svg == f"<svg>{len(values)} rows</svg>"
        kept.save()
    assert drawn == ["1 rows", "2 rows"]
    KeptPictures(tmp_path).svg("json", [row], drawing("again", drawn))
    assert drawn[2:] == ["again"]


def test_a_file_that_cannot_be_read_is_as_good_as_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Path) -> bytes:
        raise OSError(5, "Input/output error")

    (tmp_path / FILE).touch()
    monkeypatch.setattr(Path, "read_bytes", broken)
    drawn: list[str] = []
    assert KeptPictures(tmp_path).svg("json", ["x"], drawing("x", drawn)) == "<svg>x</svg>"


@pytest.mark.parametrize("text", ["", "{", "[1]", '{"a": 1}', "\udcff"])
def test_a_file_that_makes_no_sense_is_as_good_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_bytes(text.encode(errors="surrogateescape"))
    drawn: list[str] = []
    kept = KeptPictures(tmp_path)
    assert kept.svg("json", ["x"], drawing("x", drawn)) == "<svg>x</svg>"
    kept.save()
    assert KeptPictures(tmp_path).svg("json", ["x"], drawing("y", drawn)) == "<svg>x</svg>"


def test_a_second_report_draws_nothing_and_writes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def files() -> dict[str, bytes]:
        found = (path for path in tmp_path.rglob("*") if path.is_file())
        return {str(path): path.read_bytes() for path in found}

    write_report(tmp_path, report())
    first = files()
    monkeypatch.setattr(panel_chart, "svg", lambda _: pytest.fail("a picture is drawn again"))
    write_report(tmp_path, report())
    assert files() == first
    (tmp_path / FILE).unlink()
    with pytest.raises(pytest.fail.Exception):
        write_report(tmp_path, report())


def test_other_code_draws_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []
    for code in ("one", "one", "other"):
        monkeypatch.setattr("halfway.report.verdicts.kept_pictures._code", lambda _, of=code: of)
        kept = KeptPictures(tmp_path)
        kept.svg("json", ["x"], drawing(code, drawn))
        kept.save()
    assert drawn == ["one", "other"]


def test_the_values_of_each_drawing_of_the_papers_determine_it() -> None:
    """No two drawings have the same values, and none is a closure, whose values are hidden."""
    seen: list[tuple[str, ...]] = []

    class Recorder(KeptPictures):
        def svg(self, module: str, values: Iterable[Any], draw: Callable[[], str]) -> str:
            assert isinstance(draw, partial)
            assert draw.func.__closure__ is None
            assert "<" not in draw.func.__qualname__
            seen.append((module, *map(str, values)))
            return ""

    for paper in PAPERS.values():
        for figure in paper.figures:
            if figure.drawing is not None:
                picture_of(figure.drawing, Recorder())
    assert len(set(seen)) == len(seen) >= 5
