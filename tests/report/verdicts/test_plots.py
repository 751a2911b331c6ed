"""Plots: one panel per system, the printed values among ours, and the same in words."""

import re

import pytest

from halfway.pipeline.reproduction.figures import Plot
from halfway.report.verdicts import plots
from halfway.report.verdicts.kept_pictures import KeptPictures
from tests.report.specimens import (
    asynchrony_summaries,
    growth_summaries,
    load_summaries,
    paper,
    summary,
)

_, GROWTH, ASYNCHRONY, LOAD = (
    figure.plots[0] if figure.plots else None for figure in paper().figures
)


def test_a_panel_holds_a_box_for_each_point_and_a_diamond_for_each_printed_value() -> None:
    assert ASYNCHRONY is not None
    made = plots.panels(ASYNCHRONY, asynchrony_summaries(), KeptPictures())
    assert [panel.title for panel in made] == ["directional-walk", "random-walk"]
    for panel in made:
        assert len(re.findall(r"published \d", panel.svg)) == 12
        assert panel.svg.count("half of all within") == 3 * 12  # whisker, box, median
        assert "median at n=1500 k=1" in panel.words
        assert not panel.own_scale


def test_panels_far_apart_get_scales_of_their_own() -> None:
    assert GROWTH is not None
    assert all(
        panel.own_scale for panel in plots.panels(GROWTH, growth_summaries(), KeptPictures())
    )


def test_bars_stand_beside_the_printed_means() -> None:
    assert LOAD is not None
    made = plots.panels(LOAD, load_summaries(), KeptPictures())
    assert [panel.title for panel in made] == [
        "directional-walk", "random-walk", "shortest-path", "tree",
    ]  # fmt: skip
    assert len(re.findall(r"published \d", made[0].svg)) == 5
    assert "published" not in made[3].svg


def test_curves_join_points_at_the_distances_of_their_numbers() -> None:
    plot = Plot("curves", "load", "n", "system", "nodes", "paths", statistic="mean")
    rows = [summary("load", 50.0 + n / 100, system="walk", n=n) for n in (100, 200, 1000)]
    (panel,) = plots.panels(plot, rows, KeptPictures())
    assert panel.svg.count("mark-line") == panel.svg.count("mark-area") == 1
    points = panel.svg.split("mark-symbol")[1].split("</g>")[0]
    found = re.findall(r"translate\(([\d.]+),", points)
    near, far = float(found[1]) - float(found[0]), float(found[2]) - float(found[1])
    assert far == pytest.approx(8 * near, rel=0.01)
    assert "curves of paths by nodes; mean at" in panel.words


def test_a_panel_of_a_number_has_the_name_of_its_parameter() -> None:
    plot = Plot("curves", "load", "k", "n", "branches", "paths", statistic="mean")
    rows = [summary("load", float(k), n=600, k=k) for k in (1, 2)]
    (panel,) = plots.panels(plot, rows, KeptPictures())
    assert panel.title == "n = 600"
    whole = plots.whole(plot, rows, "Load", KeptPictures())
    assert ">n = 600<" in whole
    assert ">600<" not in whole


def test_curves_over_powers_have_equal_distances() -> None:
    plot = Plot("curves", "load", "n", "system", "nodes", "paths", log=True, log_x=True)
    rows = [summary("load", float(n), system="walk", n=n) for n in (10**3, 10**4, 10**6)]
    (panel,) = plots.panels(plot, rows, KeptPictures())
    points = panel.svg.split("mark-symbol")[1].split("</g>")[0]
    found = [float(x) for x in re.findall(r"translate\(([\d.]+),", points)]
    assert found[2] - found[1] == pytest.approx(2 * (found[1] - found[0]), rel=0.01)
    assert [panel.svg.count(f">1e+{power}</text>") for power in (3, 4, 5, 6)] == [1, 1, 1, 1]


def test_only_points_that_the_plot_asks_for_are_shown() -> None:
    one = Plot("boxplot", "steps", "n", "system", "n", "steps", where={"k": 10})
    assert len(plots.selected(one, asynchrony_summaries())) == 8
    none = Plot("boxplot", "energy", "n", "system", "n", "J")
    assert plots.panels(none, asynchrony_summaries(), KeptPictures()) == []


def test_sizes_are_in_the_order_of_numbers() -> None:
    assert GROWTH is not None
    svg = plots.panels(GROWTH, list(reversed(growth_summaries())), KeptPictures())[0].svg
    places = [svg.index(f">{n}</text>") for n in (1500, 2000, 2500, 3000, 3500, 4000)]
    assert places == sorted(places)


def test_the_same_plot_is_the_same_bytes() -> None:
    assert LOAD is not None
    rows = load_summaries()
    first, second = (plots.whole(LOAD, rows, "t", KeptPictures()) for _ in range(2))
    assert first == second


def test_series_keep_their_colours_in_every_panel() -> None:
    assert ASYNCHRONY is not None
    names = plots.legend(ASYNCHRONY, asynchrony_summaries())
    assert [name for name, _ in names] == ["k = 1", "k = 10", "k = 100"]
    assert len({colour for _, colour in names}) == 3
    for panel in plots.panels(ASYNCHRONY, asynchrony_summaries(), KeptPictures()):
        assert all(colour in panel.svg for _, colour in names)


def test_a_maximum_on_a_log_scale_and_zeros_do_not_break() -> None:
    plot = Plot("bars", "steps", "n", "system", "n", "y", statistic="maximum", log=True)
    assert len(plots.panels(plot, growth_summaries(), KeptPictures())) == 2
