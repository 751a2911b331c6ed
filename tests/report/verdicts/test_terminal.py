"""Verdict tables on a terminal: complete at 80 columns, and readable without colour."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from halfway.pipeline.reproduction.verdict import NO_VALUE
from halfway.report.terminal.listing import print_papers
from halfway.report.verdicts import terminal, verdict_wording
from halfway.report.verdicts.terminal_table import verdict_text
from tests.report.specimens import asynchrony_verdicts, load_verdicts, paper, report


def printed(width: int, figure_name: str) -> str:
    out = Console(file=io.StringIO(), width=width)
    whole = paper()
    figure = whole.figure(figure_name)
    assert figure is not None
    verdicts = {"figure-6": asynchrony_verdicts(), "figure-7": load_verdicts()}.get(figure_name, [])
    terminal.print_figure(out, whole, figure, verdicts)
    assert isinstance(out.file, io.StringIO)
    return out.file.getvalue()


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("figure", ["figure-6", "figure-7"])
def test_no_line_is_wider_than_the_terminal_and_no_verdict_is_cut(width: int, figure: str) -> None:
    text = printed(width, figure)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    verdicts = asynchrony_verdicts() if figure == "figure-6" else load_verdicts()
    for opinion, count in verdict_wording.tally(verdicts).items():
        first, *rest = f"{verdict_wording.SYMBOL[opinion]} {opinion}".partition(" as ")
        assert len([line for line in text.splitlines() if line.rstrip().endswith(first)]) == count
        if any(rest):
            folded = [line for line in text.splitlines() if line.strip() == "as printed"]
            assert len(folded) == count


def test_rows_show_published_beside_measured_with_the_interval() -> None:
    text = printed(120, "figure-6")
    row = next(line for line in text.splitlines() if line.startswith("n=1500 k=10 "))
    assert row.split() == [
        "n=1500", "k=10", "median", "steps", "267", "270", f"257{NO_VALUE}286",
        "✓", "agrees",
    ]  # fmt: skip


def test_reasons_interpretations_and_the_tally_stand_under_the_table() -> None:
    text = " ".join(printed(80, "figure-6").split())
    assert "✗ differs directional-walk n=2500 k=10 mean steps: 31 % above the printed mean" in text
    assert "interpretation: the first walk makes 1 step, then the other k" in text
    assert "46 of 48 agree · 1 same trend · 1 differs · 100 networks per value" in text


def test_several_interpretations_have_marks() -> None:
    text = " ".join(printed(120, "figure-7").split())
    assert "mean load [b]" in text
    assert (
        "interpretation [b]: meets when stepped on (0 of 5 agree · 5 impossible as printed)" in text
    )


def test_brackets_and_tags_in_a_metric_stay_what_they_are() -> None:
    assert "<b>few</b> nodes &" in printed(120, "figure-7")


def test_a_figure_without_verdicts_says_so() -> None:
    assert "no judged values" in printed(80, "figure-4")


def test_a_table_of_reasons_ends() -> None:
    whole = paper()
    rows = [
        type(v)(**{**{f: getattr(v, f) for f in v.__struct_fields__}, "verdict": "differs",
                   "reason": f"because of {index}"})
        for index, v in enumerate(asynchrony_verdicts())
    ]  # fmt: skip
    out = Console(file=io.StringIO(), width=100)
    terminal.print_figure(out, whole, whole.figures[2], rows)
    assert isinstance(out.file, io.StringIO)
    assert "40 more reasons" in out.file.getvalue()


def test_the_run_ends_with_digest_time_and_page(tmp_path: Path) -> None:
    out = Console(file=io.StringIO(), width=60)
    terminal.print_run(out, report(), str(tmp_path / "index.html"))
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    assert "5f3a9c01d2e47b68" in text
    assert "walking 75%" in text
    assert f"{tmp_path}/index.html\n" in text  # on one line: it can be copied


def test_colour_is_an_addition() -> None:
    plain, coloured = io.StringIO(), io.StringIO()
    terminal.console(plain).print(verdict_text("differs"))
    Console(file=coloured, force_terminal=True).print(verdict_text("differs"))
    assert plain.getvalue().strip() == "✗ differs"
    assert "\x1b[" in coloured.getvalue()


def test_a_pipe_gets_a_width_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    assert terminal.console(io.StringIO()).width == 100
    monkeypatch.setenv("COLUMNS", "72")
    assert terminal.console(io.StringIO()).width == 72


def test_the_list_counts_runs_at_both_scales() -> None:
    out = Console(file=io.StringIO(), width=100)
    print_papers(out, [paper()])
    assert isinstance(out.file, io.StringIO)
    text = out.file.getvalue()
    row = next(line for line in text.splitlines() if "figure-6" in line)
    assert row.split()[-2:] == ["10", "100"]
    assert "picture" in next(line for line in text.splitlines() if "figure-4" in line)
