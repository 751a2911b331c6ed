"""Results of a comparison where people read them: terminals of every width, screens, paper."""

import io
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from halfway.adapters.registry import TABLE
from halfway.cli.terminal.screen import PLAIN
from halfway.comparison.evaluation.comparison_results import (
    DecisionRule,
    MeanInterval,
    Need,
    Results,
)
from halfway.comparison.evaluation.decision import decide
from halfway.protocols import SYSTEMS as BUILT_IN
from halfway.report.comparison.comparison_files import cells_jsonl, decisions_jsonl
from halfway.report.comparison.comparison_page import comparison_page
from halfway.report.comparison.decision_text import share_text
from halfway.report.comparison.plots.axes import axis
from halfway.report.comparison.plots.decision_plot import PlottedSystem, front_of
from halfway.report.comparison.plots.frame import WIDTH, ticks_across
from halfway.report.comparison.plots.system_marks import colour, dashes, mark, mark_numbers
from halfway.report.comparison.terminal_results import print_results
from tests.report.browser import CHROMIUM, Browser
from tests.report.comparison_specimens import SYSTEMS, nodes, replay, results, world

LONG = MeanInterval(1_036_068.4, 935_000.0, 1_390_112.0)
FITS = (
    "[...document.querySelectorAll('.scroll, svg.chart')]"
    ".every((one) => one.scrollWidth <= one.clientWidth + 1)"
    " && document.documentElement.scrollWidth <= innerWidth"
)


def wide(sweep: bool = False) -> Results:
    """Twelve systems and one of a user, with long names and numbers."""
    names = [*BUILT_IN, "a-protocol-of-a-user"]
    few = results(sweep)
    cells = tuple(
        replace(
            cell, system=name, mean=LONG if cell.metric == "energy" else cell.mean,
            difference=None if name == few.baseline else LONG,
        )
        for k, name in enumerate(names)
        for cell in few.cells if cell.system == SYSTEMS[k % len(SYSTEMS)]
    )  # fmt: skip
    decisions = tuple(
        replace(one, systems=tuple(
            replace(one.systems[k % len(SYSTEMS)], system=name) for k, name in enumerate(names)
        )) for one in few.decisions
    )  # fmt: skip
    return replace(few, systems=tuple(names), cells=cells, decisions=decisions)


def printed(whole: Results, width: int) -> str:
    stream = io.StringIO()
    print_results(Console(file=stream, width=width), whole)
    return stream.getvalue()


@pytest.mark.parametrize("terminal", [False, True])
def test_the_last_line_on_a_terminal_repeats_the_decision(*, terminal: bool) -> None:
    stream = io.StringIO()
    print_results(
        Console(file=stream, width=800, force_terminal=terminal, no_color=True), results()
    )
    *_, last = stream.getvalue().splitlines()
    (decision,) = results().decisions
    assert (decision.sentence[:40] in re.sub(r"\x1b\[[0-9;]*m", "", last)) == terminal


@pytest.mark.parametrize("sweep", [False, True])
@pytest.mark.parametrize("width", [40, 60, 80, 120])
@pytest.mark.long
def test_a_terminal_cuts_no_number_and_no_name(width: int, sweep: bool) -> None:
    whole = wide(sweep)
    text = printed(whole, width)
    assert "…" not in text
    lines = text.splitlines()
    assert all(len(line.rstrip()) <= width for line in lines if "digest" not in line)
    words = set(re.split(r"[\s*\[\]()]+", text))
    for cell in whole.cells:
        if cell.replicates:
            parts = re.split(r"[\s()]+", cell.mean.text)
            assert words >= {part for part in parts if part}, cell
    assert words >= set(whole.systems)


def test_metrics_without_a_value_have_no_column() -> None:
    assert "recovery time" not in printed(results(), 120)


def test_a_sweep_has_one_table_a_metric_on_a_terminal() -> None:
    text = printed(results(sweep=True), 120)
    assert len(re.findall(r"^energy \[J\], less is better", text, re.MULTILINE)) == 1
    rows = [line.split() for line in text.splitlines() if re.match(r"(10|30|100)\s", line)]
    assert len(rows) == 5 * 3  # four metrics, and the decisions
    assert text.count("flooding") < 20
    assert len(text.splitlines()) < 70


def test_the_decision_is_at_the_top() -> None:
    text = printed(results(), 120)
    whole = results()
    assert " ".join(text.split()).startswith(f"{whole.title} {whole.decisions[0].sentence}")
    assert "directional-walk: fails, delivery ratio 0.7" in text


def test_a_sweep_has_one_row_of_decisions_for_each_point() -> None:
    whole = results(sweep=True)
    table, *_ = printed(whole, 120).split("\n\n")
    assert "Which system to choose: delivery ratio ≥ 0.8, latency p50 ≤ 2 s, least energy" in table
    rows = [line for line in table.splitlines() if re.match(r"(10|30|100)\s", line)]
    for row, decision in zip(rows, whole.decisions, strict=True):
        assert decision.chosen is not None
        assert row.split()[1] == decision.chosen
    assert "no need was stated" not in table
    shares = [need.greatest_share for one in whole.decisions for need in one.systems[0].needs]
    assert (
        f"At each point, the chosen system could miss a need in up to {share_text(max(shares))} of "
        "further replicates (95 % confidence)." in " ".join(printed(whole, 120).split())
    )
    many = tuple(
        replace(one, stated=False, chosen=None, systems=tuple(
            replace(system, verdict="open") for system in one.systems
        )) for one in whole.decisions
    )  # fmt: skip
    text = printed(replace(whole, decisions=many), 120)
    assert "At each point" not in text
    table, *_ = text.split("\n\n")
    assert table.count("4 systems") == 3
    assert "(no need was stated)" in table


def test_a_decision_is_an_object_of_the_json_lines() -> None:
    whole = results(sweep=True)
    rows = [json.loads(line) for line in decisions_jsonl(whole).splitlines()]
    assert [row["workload.events"] for row in rows] == [10, 30, 100]
    first = rows[0]["decision"]
    assert first["sentence"].startswith("Choose ")
    met = first["systems"][0]["needs"][0]
    assert (met["missed"], met["replicates"]) == (0, 10)
    assert met["greatest_share"] == pytest.approx(1.0 - (0.05 * 2 / 3 / 8) ** 0.1)  # 4 x 2 needs
    assert {one["verdict"] for one in first["systems"]} <= {
        "chosen", "not clearly worse", "open", "costs more", "fails"
    }  # fmt: skip
    assert all("decision" not in json.loads(line) for line in cells_jsonl(whole).splitlines())


def test_a_stream_without_unicode_gets_plain_characters() -> None:
    text = "0.957 ± 0.012 – 1.20–1.27 ≥ −3 ≈ same ✓ ✗ ☃"
    assert text.encode("ascii", PLAIN).decode() == "0.957 +- 0.012 - 1.20-1.27 >= -3 ~ same + x ?"


def test_tables_stay_aligned_on_a_stream_without_unicode() -> None:
    stream = io.TextIOWrapper(io.BytesIO(), "ascii", PLAIN)
    print_results(Console(file=stream, width=80), results())
    stream.seek(0)
    lines = stream.read().splitlines()
    begin = next(k for k, line in enumerate(lines) if line.startswith("Delivery"))
    table = [line for line in lines[begin:] if re.match(r"flooding|gossip|drip", line)][:3]
    assert "+-" in "".join(table)
    assert len({len(line) for line in table}) == 1


def test_every_system_has_a_mark_that_depends_on_its_name_alone() -> None:
    # A comparison has failure detectors or systems of events, never both.
    detectors = [name for name in BUILT_IN if TABLE[name].adapter.detects_failures]
    systems = [name for name in BUILT_IN if name not in detectors]
    for some in (detectors, systems):
        numbers = mark_numbers(some)
        assert list(numbers) == some
        assert len({colour(number) for number in numbers.values()}) == len(some) > 1
        assert len({mark(number) for number in numbers.values()}) == len(some)
    assert mark_numbers(["siena", "drip"]) == {name: numbers[name] for name in ("siena", "drip")}
    users = [f"user-{k}" for k in range(12)]
    both = mark_numbers([*systems, *users])
    assert len(set(both.values())) == len(both)
    assert mark_numbers(["user-0"])["user-0"] == both["user-0"]
    looks = {mark(numbers[name]) for name in systems}
    assert all(mark(both[name]) not in looks for name in users)
    assert dashes(0) == ""


def test_ticks_neither_overlap_nor_leave_the_picture() -> None:
    across = axis([0.0, 400_000.0], 130.0, 386.0)
    parts = "".join(ticks_across(across, 0.0, 100.0))
    found = re.findall(r'class="tick" x="([\d.]+)" y="[\d.]+">([^<]+)<', parts)
    ends = [(float(x) - 3.1 * len(text), float(x) + 3.1 * len(text)) for x, text in found]
    assert len(found) >= 2
    assert all(end <= WIDTH for _, end in ends)
    assert all(one[1] < other[0] for one, other in pairwise(ends))


def test_the_front_has_the_systems_that_no_other_surpasses() -> None:
    def spot(name: str, cost: float, need: float) -> PlottedSystem:
        return PlottedSystem(
            name, 0, MeanInterval(cost, cost, cost), MeanInterval(need, need, need)
        )

    spots = [spot("a", 1.0, 0.2), spot("b", 2.0, 0.9), spot("c", 3.0, 0.8), spot("d", 4.0, 0.95),
             spot("e", 2.0, 0.5)]  # fmt: skip
    assert [one.system for one in front_of(spots, more=True)] == ["a", "b", "d"]
    assert [one.system for one in front_of(spots, more=False)] == ["a"]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    folder = tmp_path_factory.mktemp("results")
    for name, whole in (("one", wide()), ("sweep", wide(sweep=True))):
        (folder / f"{name}.html").write_text(comparison_page(whole, []), "utf-8")
    replays = [replay(system, world())._replace(nodes=nodes()) for system in SYSTEMS[:2]]
    (folder / "nodes.html").write_text(comparison_page(results(), replays), "utf-8")
    with Browser(folder / "profile") as found:
        found.folder = folder  # type: ignore[attr-defined]
        yield found


def opened(browser: Browser, name: str, width: int, media: str = "screen") -> None:
    folder: Path = browser.folder  # type: ignore[attr-defined]
    browser("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
            mobile=False)  # fmt: skip
    browser("Emulation.setEmulatedMedia", media=media)
    browser.open(folder / f"{name}.html")


@pytest.mark.parametrize("name", ["one", "sweep"])
@pytest.mark.long
def test_tables_are_whole_on_a_screen_on_a_phone_and_on_paper(browser: Browser, name: str) -> None:
    for width, media in ((1400, "screen"), (390, "screen"), (718, "print")):
        opened(browser, name, width, media)
        assert browser.tell(FITS), (width, media)


def test_heads_of_tables_have_no_buttons_on_paper(browser: Browser) -> None:
    # Chromium repeats the head of a table on each printed page, but not a head with a button.
    displays = "[...document.querySelectorAll('thead .sort')].map((one) => "
    displays += "getComputedStyle(one).display)"
    opened(browser, "sweep", 718, "print")
    on_paper = browser.tell(displays)
    assert len(on_paper) > 0
    assert set(on_paper) == {"contents"}
    opened(browser, "sweep", 1400)
    assert "contents" not in browser.tell(displays)


def test_paper_has_the_nodes_of_the_highest_load(browser: Browser) -> None:
    rows = (
        "[...document.querySelectorAll('.nodes tbody')].map((body) => [...body.rows]"
        ".filter((row) => getComputedStyle(row).display !== 'none').length)"
    )
    note = "getComputedStyle(document.querySelector('.on-paper')).display"
    opened(browser, "nodes", 1400)
    assert (browser.tell(rows), browser.tell(note)) == ([100, 100], "none")
    opened(browser, "nodes", 718, "print")
    assert (browser.tell(rows), browser.tell(note)) == ([10, 10], "block")
    browser.tell("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    wide = "Math.max(...[...document.querySelectorAll('.nodes td')].map((one) => one."
    assert browser.tell(f"{wide}getBoundingClientRect().right))") <= 718


def test_the_front_is_readable_on_a_phone(browser: Browser) -> None:
    opened(browser, "one", 390)
    name = "document.querySelector('.pareto .name')"
    assert browser.tell(f"{name}.getBoundingClientRect().height") > 9.0
    assert browser.tell(f"getComputedStyle({name}).paintOrder").startswith("stroke")
    assert browser.tell("document.documentElement.scrollWidth") == 390


def test_names_on_the_front_stay_above_the_numbers_of_the_axis(browser: Browser) -> None:
    opened(browser, "one", 1400)
    ends = (
        "[...document.querySelectorAll('.pareto {}')].map((one) => one.getBoundingClientRect().{})"
    )
    names, ticks = ends.format(".name", "bottom"), ends.format(".tick", "top")
    assert browser.tell(f"{names}.length") > 0
    assert browser.tell(f"Math.max(...{names}) <= Math.min(...{ticks}) + 3")


def test_the_command_is_whole_on_paper(browser: Browser) -> None:
    opened(browser, "one", 718, "print")
    assert browser.tell("document.querySelectorAll('#making pre').length") > 0
    widths = "[...document.querySelectorAll('#making pre')].map((one) => one.scrollWidth)"
    browser.tell("document.querySelector('#making pre code').textContent = '--set x=1 '.repeat(99)")
    assert browser.tell(f"Math.max(...{widths}) <= 718")


def test_without_a_choice_no_column_compares_with_it() -> None:
    head = "difference to the chosen system"
    chosen, known = comparison_page(results(), []), results()
    rule = DecisionRule((Need("delivery-ratio", 0.99999), Need("latency-p50", 0.001)), "energy")
    none = replace(known, decisions=(decide(0, known.metrics, known.cells, rule),))
    assert none.decisions[0].chosen is None
    assert f'<th scope="col" class="n">{head}</th>' in chosen
    assert head not in comparison_page(none, [])


def test_a_phone_shows_cards_with_the_name_of_each_value(browser: Browser) -> None:
    opened(browser, "one", 390)
    cell = "document.querySelector('.comparison td.n')"
    assert browser.tell(f"getComputedStyle({cell}.parentElement).display") == "grid"
    assert browser.tell(f"getComputedStyle({cell}, '::before').content").strip('"') == browser.tell(
        f"{cell}.dataset.name"
    )


def test_a_column_is_sorted_by_its_head_with_mouse_and_keyboard(browser: Browser) -> None:
    opened(browser, "one", 1400)
    table = "document.querySelectorAll('#results table')[1]"
    column = f"[...{table}.tBodies[0].rows].map((row) => Number(row.cells[1].dataset.value))"
    before = browser.tell(column)
    head = f"{table}.tHead.rows[0].cells[1]"
    browser.tell(f"{head}.querySelector('button').click()")
    assert browser.tell(f"{head}.getAttribute('aria-sort')") == "ascending"
    assert browser.tell(column) == sorted(before) != before
    browser.tell(f"{head}.querySelector('button').focus()")
    browser.press(" ")
    assert browser.tell(f"{head}.getAttribute('aria-sort')") == "descending"
    assert browser.tell(column) == sorted(before, reverse=True)
    browser.press(" ")
    assert browser.tell(f"{head}.getAttribute('aria-sort')") is None
    assert browser.tell(column) == before
    assert browser.complaints == []


def test_a_table_is_plain_without_a_script() -> None:
    page = comparison_page(results(), [])
    assert "<button" not in page[: page.index("<script>")]
