"""The page of a comparison: self-contained, readable without colour, working in a browser."""

import gzip
import re
from base64 import b64decode
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from msgspec.structs import replace

from halfway.comparison.evaluation.comparison_results import MeanInterval, Metric, Results
from halfway.report.comparison.comparison_page import comparison_page, write_comparison_page
from halfway.report.comparison.decision_section import decision_section
from halfway.report.comparison.map.map_section import MOST_BYTES
from halfway.report.comparison.map.packing import packed_replay, packed_world
from halfway.report.comparison.metric_groups import shown_groups
from halfway.report.comparison.plots.axes import axis, label, with_intervals
from tests.report.browser import Browser
from tests.report.comparison_specimens import SYSTEMS, replay, results, world
from tests.report.verdicts.test_verdict_page import Outline

COMMAND = "halfway compare sensor-field.toml --replicates 10"


@pytest.fixture(scope="module")
def text() -> str:
    on = world()
    return comparison_page(results(), [replay(system, on) for system in SYSTEMS[:2]], COMMAND)


def test_every_element_is_closed_and_every_id_is_its_own(text: str) -> None:
    outline = Outline(text)
    assert (outline.open, outline.crossed) == ([], [])
    assert len(outline.ids) == len(set(outline.ids))
    assert {link.removeprefix("#") for link in outline.links} <= set(outline.ids)
    assert all(after - before <= 1 for before, after in pairwise(outline.headings))


def test_nothing_is_asked_of_the_network(text: str) -> None:
    assert not re.search(r"https?://|@import|url\(|\bfetch\(|XMLHttp", text)
    assert "default-src 'none'" in text


def test_the_table_has_values_intervals_the_best_and_the_unsupported(text: str) -> None:
    section = text[text.index('<section id="results"') : text.index('<section id="map"')]
    tables = re.findall(r"<table.*?</table>", section)
    captions = [re.findall(r"<caption>(.*?)</caption>", table)[0] for table in tables]
    assert [caption.split(":")[0] for caption in captions] == [
        "Delivery", "Latency", "Cost of a notification, memory of a node, messages of the set-up",
        "Energy and load of a whole run",
    ]  # fmt: skip
    assert sum(table.count("★") for table in tables) == 2
    assert sum(table.count(" best</span>") for table in tables) == 2
    assert all('class="base">baseline' in table for table in tables)
    assert "</b> cannot run here: it needs positions, and this network has none" in section
    assert "more is better" in tables[0]
    assert "less is better" in tables[1]
    assert 'title="Deliveries of those &lt;expected&gt; &amp; due."' in tables[0]
    assert "recovery time" not in "".join(tables)  # no run has a value


def test_memory_without_notifications_has_a_title_of_its_own() -> None:
    """As in a comparison of failure detectors, which have no notifications."""
    found = results()
    metrics = (Metric("state-per-node", "state / node", "bytes", "Memory.", "less"),)
    cells = tuple(
        replace(one, metric="state-per-node")
        for one in found.cells if one.metric == "energy"
    )  # fmt: skip
    alone = replace(found, metrics=metrics, cells=cells)
    assert [title for title, _ in shown_groups(alone)] == ["Memory of a node"]
    assert [title.split(":")[0] for title, _ in shown_groups(found)][2].startswith("Cost of a")


def test_differences_have_their_direction_in_words(text: str) -> None:
    assert {"better", "worse"} <= set(re.findall(r'verdict-word">([\w ]+)<', text))
    assert text.count('id="paired"') == 1


def test_a_difference_of_one_replicate_has_no_interval() -> None:
    """As where one network alone recovered from a fault under both systems."""
    whole, gap = results(), MeanInterval(0.5, float("nan"), float("nan"))
    lone = tuple(replace(one, difference=gap) if one.difference else one for one in whole.cells)
    page = comparison_page(replace(whole, cells=lone), [], COMMAND)
    assert re.search(r'>\+0\.50*<span class="span">no interval<', page)
    assert "better" not in re.findall(r'verdict-word">([\w ]+)<', page)
    assert "no clear difference" in re.findall(r'verdict-word">([\w ]+)<', page)


def test_a_system_that_delivers_too_little_is_not_called_better_in_a_cost() -> None:
    whole = results()  # directional-walk delivers 0.71 and needs the least energy
    verdicts = _verdict_words(whole, "energy")
    assert verdicts["directional-walk"] == "not comparable"  # it fails the need of 0.8
    assert verdicts["drip"] == "better"
    free = replace(whole, decisions=())
    assert _verdict_words(free, "energy")["directional-walk"] == "better"
    lone = tuple(replace(one, comparable=one.system != "directional-walk") for one in whole.cells)
    idle = replace(free, cells=lone)
    assert _verdict_words(idle, "energy")["directional-walk"] == "not comparable"
    assert _verdict_words(idle, "delivery-ratio")["directional-walk"] == "worse"


def _verdict_words(whole: Results, metric: str) -> dict[str, str]:
    """System -> the word below its difference to the baseline."""
    page = comparison_page(whole, [])
    heading = next(one.heading for one in whole.metrics if one.name == metric)
    section = page[page.index('<section id="results"') :]
    rows = re.findall(r"<tr><th scope=\"row\">.*?</tr>", section)
    found = {}
    for row in rows:
        cell = re.search(rf'data-name="{re.escape(heading)}".*?</td>', row)
        word = re.search(r'verdict-word">([\w ]+)<', cell[0]) if cell else None
        if word:
            found[re.findall(r"</svg> ([\w-]+)", row)[0]] = word[1]
    return found


def test_the_page_has_digest_errors_methods_and_the_command(text: str) -> None:
    for part in ("5f3a9c01d2e47b68", "1 run failed", COMMAND, "Hellos are free",
                 "sensor &lt;field&gt;", "&quot;unit-disk&quot;"):  # fmt: skip
        assert part in text
    assert "<field>" not in text


def test_each_plot_has_a_text_and_each_system_its_own_shape(text: str) -> None:
    labels = re.findall(r'<svg class="chart" role="img" aria-label="([^"]+)"', text)
    assert len(labels) == 2 + 4  # the decision, latencies, and every metric with a value
    assert labels[0].startswith("delivery ratio against energy [J]. flooding: ")
    assert labels[1].startswith("Latencies. flooding: p50")
    assert all("gossip" in one for one in labels)
    row = text[text.index("<tbody>") : text.index("</tbody>")]
    shapes = re.findall(r'<svg class="badge-mark[^>]*><path [^>]*d="([^"]+)"', row)
    assert len(set(shapes)) == len(SYSTEMS)


def test_a_sweep_becomes_curves_with_bands_and_a_table_a_metric_and_point() -> None:
    made = comparison_page(results(sweep=True), [])
    assert made.count('<table class="comparison sweep"') == 4
    assert made.count('<table class="comparison "') == 3 * 4  # groups, folded
    assert made.count('<table class="comparison ranking"') == 3
    sweep = made[made.index('<section id="sweeps"') : made.index('<section id="making"')]
    assert sweep.count('class="band"') == 4 * len(SYSTEMS)
    assert "at 10, " in sweep
    assert 'id="map"' not in made


def test_it_is_the_same_each_time_and_written_whole(text: str, tmp_path: Path) -> None:
    on = world()
    replays = [replay(system, on) for system in SYSTEMS[:2]]
    write_comparison_page(results(), replays, tmp_path / "index.html", COMMAND)
    assert (tmp_path / "index.html").read_text() == text
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_packing_keeps_every_number() -> None:
    on = world(60, moves=True)
    given = replay("gossip", on, 500)
    packed = packed_replay(given, 10**9)
    data = gzip.decompress(b64decode(packed.blob))
    place = 0
    for column in packed.about["columns"]:
        size = column["rows"] * column["width"]
        planes = np.frombuffer(data, np.uint8, size, place).reshape(column["width"], -1)
        place += size
        weights = 256 ** np.arange(column["width"], dtype=np.int64)
        values = (planes.astype(np.int64) * weights[:, None]).sum(0) + column["low"]
        values = values.cumsum() if column["summed"] else values
        name, _, part = column["name"].partition(".")
        if name != "expected":
            wanted = given.tables[name][part]
            unit = packed.about["tick"] if part == "t" else 1
            assert np.abs(values * unit - wanted).max(initial=0) <= (unit / 2 if part == "t" else 0)
    assert place == len(data)


def test_what_does_not_fit_is_left_out_and_counted() -> None:
    given = replay("gossip", world(), 60_000)
    packed = packed_replay(given, 60_000)
    assert len(packed.blob) <= 60_000
    kept, every = packed.about["left_out"]["sent"]
    assert kept < 60_000 < every == 120_000


def test_three_thousand_nodes_and_ten_systems_stay_below_5_mb() -> None:
    on = world(3000, moves=True)
    given = replay("gossip", on, 60_000)
    made = comparison_page(results(), [given._replace(system=f"{k}") for k in range(10)], COMMAND)
    assert len(made.encode()) < 5_000_000
    blobs = re.findall(r'id="replay-\d">([^<]+)<', made)
    assert len(blobs) == 10
    assert sum(map(len, blobs)) > 0.6 * MOST_BYTES - len(packed_world(on).blob)
    assert "transmissions, evenly spread" in made


def test_axes_hold_all_values_and_end_on_ticks() -> None:
    linear = axis([3.0, 9.7], 0.0, 100.0)
    assert (linear.log, linear.low, linear.high) == (False, 0.0, 10.0)
    assert linear.at(5.0) == pytest.approx(50.0)
    wide = axis([0.001, 9.0, float("nan")], 0.0, 100.0)
    assert wide.log
    assert wide.at(0.001) > 0.0
    assert wide.ticks[-1] == 1.0
    assert axis([2.0, 2.0], 0.0, 1.0).at(2.0) == pytest.approx(0.5)
    costs = axis([0.0, 850.0, 83_243.0], 0.0, 100.0)  # set-up messages of systems without a set-up
    assert (costs.log, costs.ticks[0], costs.at(0.0)) == (True, 0.0, 0.0)
    assert costs.at(850.0) > 10.0
    assert not axis([-1.0, 1.0, 500.0], 0.0, 100.0).log
    low = with_intervals([2.0, 9.0], [1e-6, 12.0])  # an end near 0 leaves room for the values
    assert min(low) > 0.1
    assert max(low) == 12.0
    shares = with_intervals([0.0, 0.02, 0.3], [1e-7, 0.4])  # 0 is drawn, so the end is 0
    assert sorted(shares) == [0.0, 0.0, 0.02, 0.3, 0.4]
    assert [label(value) for value in (0.0, 0.25, 1500.0, 25_000.0, 2e-5)] == [
        "0", "0.25", "1,500", "25,000", "2e-5",
    ]  # fmt: skip


def test_differences_are_shown_on_request_without_a_script(page: Browser) -> None:
    shown = "getComputedStyle(document.querySelector('.difference')).display"
    assert page.tell(shown) == "none"
    page.click("#paired")
    assert page.tell(shown) == "block"


def test_dark_and_narrow(page: Browser) -> None:
    light = page.tell("halfway.show(0), halfway.ink.name")
    page.colours("dark")
    page.until(f"halfway.ink.name !== {light!r}")
    for wide in (500, 900):
        page("Emulation.setDeviceMetricsOverride", width=wide, height=900, deviceScaleFactor=1,
             mobile=False)  # fmt: skip
        assert page.tell("document.documentElement.scrollWidth") <= wide


def test_no_error_and_no_request(page: Browser) -> None:
    assert page.complaints == []
    assert len(page.requests) == 1
    assert page.requests[0].startswith("file://")


def test_a_sweep_has_one_table_of_all_decisions_before_their_reasons() -> None:
    whole = results(sweep=True)
    table, *reasons = decision_section(whole).split("<details>")
    assert table.count('<th scope="row">') == len(whole.points) == len(reasons)
    for row, reason, decision in zip(
        table.split("<tr>")[2:], reasons, whole.decisions, strict=True
    ):
        assert (f"{decision.chosen}</b>" in row) == (decision.chosen is not None)
        assert row.count("badge-mark") == len(whole.systems)
        assert decision.sentence.partition(":")[0] in reason
    assert "At each point, the chosen system could miss a need in up to 43 % of" in table


def test_a_met_need_shows_the_replicates_that_miss_it_and_the_share_that_could() -> None:
    text = decision_section(results())
    assert (
        "in none of 10 replicates, but could be in up to 43\N{NO-BREAK SPACE}% of further ones"
        in text
    )
    cells = re.findall(r'class="n need-(\w+)".*?</td>', text)
    shown = re.findall(r'<span class="span">none of 10 miss it, up to 43 % could</span></td>', text)
    assert len(shown) == cells.count("meets") > 0


def test_a_decision_without_a_choice_has_no_difference_to_a_chosen_system() -> None:
    whole = results()
    (decision,) = whole.decisions
    assert decision.chosen is not None
    heading = "difference to the chosen system"
    assert heading in decision_section(whole)
    systems = tuple(replace(one, extra=None) for one in decision.systems)
    open_ = replace(whole, decisions=(replace(decision, chosen=None, systems=systems),))
    text = decision_section(open_)
    assert heading not in text
    cells = 2 + len(decision.needs)  # verdict, needs, cost
    assert text.count("<td") == cells * len(decision.systems)
