"""Pictures of walks: each format, the same bytes, and networks that know no positions."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from halfway.bulk.walks.walks import Meeting
from halfway.problem import Problem
from halfway.report.pictures.layout import by_hops, positions
from halfway.report.pictures.network_picture import checked_format, draw_walk, walk_svg
from halfway.world.graphs.network import Network

STARTS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


def ring(n: int, name: str = "ring") -> Network:
    who = np.array([sorted(((i - 1) % n, (i + 1) % n)) for i in range(n)], np.int32).ravel()
    around = np.linspace(0, 2 * np.pi, n, endpoint=False)
    place = np.stack([np.cos(around), np.sin(around)], axis=1)
    labels = np.array([f"$node_{i}" for i in range(n)])
    return Network(np.arange(0, 2 * n + 1, 2, dtype=np.uint32), who, place, labels, name)


def met() -> Meeting:
    return Meeting(
        steps=4,
        steps_each=(2, 2),
        node=2,
        path=np.arange(5),
        trails=(np.arange(3), np.array([4, 3, 2])),
    )


@pytest.mark.parametrize("form", sorted(STARTS))
def test_each_format_is_drawn_and_is_the_same_bytes_again(form: str, tmp_path: Path) -> None:
    first, again = tmp_path / f"a.{form}", tmp_path / f"b.{form.upper()}"
    draw_walk(ring(12), met(), first)
    draw_walk(ring(12), met(), again)
    assert first.read_bytes().startswith(STARTS[form])
    assert first.read_bytes() == again.read_bytes()


def test_the_picture_says_what_it_shows() -> None:
    svg = walk_svg(ring(12), met())
    for words in (
        "ring: two walks meet after 4 steps", "walk from $node_0 (2 steps)", "path of 4 hops",
        "meet at $node_2",
    ):  # fmt: skip
        assert words in svg
    assert "<dc:date>" not in svg
    assert "a title" in walk_svg(ring(12), met(), title="a title")


def test_walks_that_did_not_meet_have_no_path() -> None:
    apart = replace(met(), node=-1, path=np.empty(0, np.int64))
    svg = walk_svg(ring(12), apart)
    assert "have not met after 4 steps" in svg
    assert "path of" not in svg


def test_long_names_are_cut() -> None:
    network = replace(ring(12), labels=np.array([f"{'x' * 60}{i}" for i in range(12)]))
    assert f"{'x' * 19}…" in walk_svg(network, met())


@pytest.mark.parametrize("name", ["walk.gif", "walk", "png"])
def test_another_format_is_a_problem_before_anything_is_drawn(name: str) -> None:
    with pytest.raises(Problem, match=r"end the name in .png, .svg or .pdf"):
        checked_format(Path(name))


def test_own_positions_are_kept_and_missing_ones_replaced() -> None:
    network = ring(8)
    assert network.position is not None
    assert positions(network) is network.position
    holes = network.position.copy()
    holes[3] = np.nan
    assert np.isfinite(positions(replace(network, position=holes))).all()


@pytest.mark.parametrize("n", [3, 40, 700])
def test_a_layout_by_hops_opens_a_ring_into_a_ring(n: int) -> None:
    network = replace(ring(n), position=None)
    place = by_hops(network)
    assert place.tobytes() == by_hops(network).tobytes()
    away = np.hypot(*(place - place.mean(0)).T)
    assert away.max() < 1.5 * away.min()


def test_a_layout_sets_components_apart_and_twins_beside_each_other() -> None:
    star = Network(
        np.array([0, 3, 4, 5, 6, 7, 8], np.uint32), np.array([1, 2, 3, 0, 0, 0, 5, 4], np.int32)
    )
    place = by_hops(star)
    gaps = np.hypot(*(place[:, None] - place[None]).transpose(2, 0, 1))
    np.fill_diagonal(gaps, np.inf)
    assert gaps.min() > 0.1
    lonely = Network(np.zeros(2, np.uint32), np.empty(0, np.int32))
    assert by_hops(lonely).shape == (1, 2)
