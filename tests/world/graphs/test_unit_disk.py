"""Tests of unit disk graphs against all distances, and of draws until connected."""

import hashlib
import pickle
import subprocess
import sys

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from halfway.problem import Problem
from halfway.world.graphs.components import connected
from halfway.world.graphs.network import Network
from halfway.world.graphs.unit_disk import connected_unit_disk, draw_positions, unit_disk

Points = npt.NDArray[np.float64]


def all_distances(points: Points, radius: float) -> npt.NDArray[np.bool_]:
    """Return the adjacency matrix by all distances."""
    dx = points[:, None, 0] - points[None, :, 0]
    dy = points[:, None, 1] - points[None, :, 1]
    near = dx * dx + dy * dy < radius * radius
    np.fill_diagonal(near, False)
    return near


def matrix_of(network: Network) -> npt.NDArray[np.bool_]:
    """Return the adjacency matrix by the user's ids; check all invariants of a Network."""
    assert network.labels is not None
    label = network.labels
    assert sorted(label) == list(range(network.n))
    matrix = np.zeros((network.n, network.n), np.bool_)
    for row in range(network.n):
        neighbours = network.neighbours(row)
        assert (np.diff(neighbours) > 0).all()
        matrix[label[row], label[neighbours]] = True
    assert network.start[-1] == len(network.who)
    return matrix


def check(points: Points, radius: float) -> None:
    """Check equal links, and positions that match their labels."""
    network = unit_disk(points, radius)
    assert (matrix_of(network) == all_distances(points, radius)).all()
    assert network.position is not None
    assert (network.position == points[network.labels]).all()


def planes(values: st.SearchStrategy[float]) -> st.SearchStrategy[Points]:
    """[n, 2] for n up to 40, with repeats."""
    return st.integers(1, 40).flatmap(lambda n: arrays(np.float64, (n, 2), elements=values))


@given(planes(st.floats(-3.0, 3.0)), st.floats(1e-3, 20.0))
def test_anywhere_in_the_plane(points: Points, radius: float) -> None:
    check(points, radius)


@given(planes(st.floats(-1e90, 1e90)), st.floats(1e-90, 1e90))
def test_any_scale(points: Points, radius: float) -> None:
    check(points, radius)


@given(planes(st.integers(-4, 4).map(lambda i: i * 0.1)), st.sampled_from([0.1, 0.2, 0.3, 1.0]))
def test_a_lattice_is_all_borders_and_duplicates(points: Points, radius: float) -> None:
    check(points, radius)


@pytest.mark.parametrize("radius", [1e-6, 0.02, 0.04, 0.2, 0.7, 2.0, 1e6])
def test_uniform_points(radius: float) -> None:
    check(draw_positions(400, 3), radius)


@pytest.mark.parametrize("scale", [(1.0, 0.0), (0.0, 1.0), (0.0, 0.0), (1.0, 1e-7), (1e-7, 1.0)])
def test_points_on_a_line_or_on_a_point(scale: tuple[float, float]) -> None:
    check(draw_positions(300, 5) * np.array(scale), 0.05)


def test_far_outliers_leave_all_other_points_in_one_cell() -> None:
    points = draw_positions(300, 5)
    points[7], points[9] = (1e12, -1e12), (-1e12, 1e12)
    check(points, 0.1)


def test_a_cluster_that_the_estimate_of_links_misses() -> None:
    # The estimate of links samples rows 0, 61, 122 and 183; rows from 184 on are a cluster.
    spread = np.column_stack((np.arange(184) * 2.0, np.arange(184) * 2.0))
    crowd = draw_positions(60, 4) * 1e-3 + 399.0
    points = np.vstack((spread, crowd))
    check(points, 1.0)
    assert unit_disk(points, 1.0).links == 60 * 59 // 2


def test_distance_equal_to_the_radius_is_not_a_link() -> None:
    points = np.array([(0.0, 0.0), (3.0, 4.0), (0.0, np.nextafter(5.0, 0.0))])
    assert unit_disk(points, 5.0).links == 2  # (3, 4) is near its third point, not the origin
    assert unit_disk(points[:2], 5.0).links == 0


def test_one_point() -> None:
    network = unit_disk([(0.3, 0.4)], 1.0)
    assert (network.n, network.links, network.label(0)) == (1, 0, "0")


def test_rows_lie_near_each_other_in_memory() -> None:
    network = unit_disk(draw_positions(10_000, 1), 0.02)
    ends = np.repeat(np.arange(network.n), network.degree)
    assert np.abs(ends - network.who).mean() < 0.03 * network.n  # n / 3 in drawn order


def test_a_million_labels_are_integers() -> None:
    assert unit_disk(draw_positions(50, 1), 0.1).labels.dtype == np.int32  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (np.zeros((0, 2)), "at least one node"),
        (np.zeros((3, 3)), "expected a pair (x, y)"),
        (np.zeros(4), "expected a pair (x, y)"),
        ([(0, 0), (0, float("nan"))], "positions[1] = (0, nan): expected two numbers"),
        ([(0, 0), (float("inf"), 0), (1, 1)], "positions[1] = "),
        ([("a", "b")], "expected numbers"),
    ],
)
def test_bad_points_are_named(points: object, said: str) -> None:
    with pytest.raises(Problem) as caught:
        unit_disk(points, 0.1)  # type: ignore[arg-type]
    assert said in str(caught.value)


@pytest.mark.parametrize("radius", [0.0, -1.0, float("nan"), float("inf"), 1e-200])
def test_bad_radius_is_named(radius: float) -> None:
    for build in (lambda: unit_disk([(0, 0)], radius), lambda: connected_unit_disk(9, radius, 1)):
        with pytest.raises(Problem, match="radius r = "):
            build()


@pytest.mark.parametrize("n", [0, -5])
def test_bad_count_is_named(n: int) -> None:
    with pytest.raises(Problem, match=f"n = {n}"):
        connected_unit_disk(n, 0.1, 1)
    with pytest.raises(Problem, match=f"n = {n}"):
        draw_positions(n, 1)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_bad_seed_is_named(seed: int) -> None:
    with pytest.raises(Problem, match="seed"):
        connected_unit_disk(10, 0.9, seed)


def test_positions_are_splitmix64_of_the_seed_and_the_draw() -> None:
    mask = 2**64 - 1

    def mixed(word: int) -> int:
        word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 & mask
        word = (word ^ word >> 27) * 0x94D049BB133111EB & mask
        return word ^ word >> 31

    golden = 0x9E3779B97F4A7C15
    for seed, draw in ((7, 0), (2**64 - 1, 3)):
        word = mixed(seed ^ mixed((draw + golden) & mask))
        expected = [(mixed((word + k * golden) & mask) >> 11) * 2.0**-53 for k in range(1, 9)]
        assert draw_positions(4, seed, draw).ravel().tolist() == expected


def test_positions_are_uniform() -> None:
    counts, _, _ = np.histogram2d(*draw_positions(40_000, 1).T, bins=10, range=[(0, 1), (0, 1)])
    assert ((counts - 400) ** 2 / 400).sum() < 150  # chi square of 99 degrees: 149 is 1 in 1000


def test_the_accepted_draw_is_the_first_connected_one() -> None:
    draw = connected_unit_disk(60, 0.16, seed=2)
    assert draw.draws > 1
    connectedness = [
        connected(unit_disk(draw_positions(60, 2, k), 0.16)) for k in range(draw.draws)
    ]
    assert connectedness == [False] * (draw.draws - 1) + [True]
    last = unit_disk(draw_positions(60, 2, draw.draws - 1), 0.16)
    assert (last.who == draw.network.who).all()
    assert (last.labels == draw.network.labels).all()  # type: ignore[union-attr]


def test_the_smallest_networks_are_connected() -> None:
    assert connected_unit_disk(1, 0.001, 1).draws == 1
    assert connected_unit_disk(2, 1.5, 1).network.links == 1


def test_acceptance_is_counted() -> None:
    # 1500 nodes, r = 0.04: two or three draws in a hundred are connected.
    draws = [connected_unit_disk(1500, 0.04, seed).draws for seed in range(40)]
    assert 20 < np.mean(draws) < 70


@pytest.mark.parametrize(("n", "radius"), [(10, 0.0001), (1500, 0.01), (1_000_000, 0.0005)])
def test_hopeless_networks_are_refused_with_the_numbers(n: int, radius: float) -> None:
    with pytest.raises(Problem) as caught:
        connected_unit_disk(n, radius, 1)
    for said in (f"n = {n}", f"r = {radius:g}", "mean degree", "radius of about"):
        assert said in str(caught.value)


def test_a_budget_of_draws_is_kept() -> None:
    assert connected_unit_disk(60, 0.16, seed=2).draws > 3
    with pytest.raises(Problem, match="none of 3 drawn networks was connected"):
        connected_unit_disk(60, 0.16, seed=2, most_draws=3)
    with pytest.raises(Problem, match="most_draws = 0"):
        connected_unit_disk(60, 0.16, seed=2, most_draws=0)


def test_another_process_draws_the_same_bytes() -> None:
    program = (
        "import hashlib; from halfway.world.graphs.unit_disk import connected_unit_disk as c;"
        "d = c(500, 0.08, 11); n = d.network;"
        "b = b''.join(a.tobytes() for a in (n.start, n.who, n.position, n.labels));"
        "print(d.draws, hashlib.sha256(b).hexdigest())"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    draw = connected_unit_disk(500, 0.08, 11)
    network = pickle.loads(pickle.dumps(draw.network))
    parts = (network.start, network.who, network.position, network.labels)
    digest = hashlib.sha256(b"".join(part.tobytes() for part in parts)).hexdigest()
    assert run.stdout.split() == [str(draw.draws), digest]


def test_nodes_transmit_to_nodes_nearer_than_the_range() -> None:
    """[drw §3] "node u can transmit to node v if the distance … satisfies d(u, v) < ru"."""
    network = unit_disk(np.array([[0.0, 0.0], [0.5, 0.0], [1.25, 0.0]]), 0.75)
    near = {
        network.label(i): sorted(network.label(j) for j in network.neighbours(i)) for i in range(3)
    }
    assert near == {"0": ["1"], "1": ["0"], "2": []}
