"""Tests of motion legs, and of the random waypoint model and its stationary start."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from halfway.problem import Problem
from halfway.world.mobility.motion import Legs, check_legs, positions, still
from halfway.world.mobility.random_waypoint import WaypointMotion, random_waypoint

TINY = 1e-3  # seconds over which a speed is measured


def legs_of(*nodes: list[tuple[float, float, float, float, float, float]]) -> Legs:
    """Return legs from one list of (t0, t1, x0, y0, x1, y1) per node."""
    first = np.cumsum([0, *map(len, nodes)])
    return Legs(first, *np.array([leg for node in nodes for leg in node], float).T.copy())


def speeds(legs: Legs, t: float) -> npt.NDArray[np.float64]:
    """Return the speed of each node at about t, [n]."""
    return np.linalg.norm(positions(legs, t + TINY) - positions(legs, t), axis=1) / TINY


def central(position: npt.NDArray[np.float64]) -> float:
    """Return the share of nodes in the central quarter of a 1000 x 1000 square."""
    return float((np.abs(position - 500.0) < 250.0).all(axis=1).mean())


def length_in_the_centre(count: int) -> float:
    """Return the share of uniform legs' length in the central quarter of a square."""
    a, b = np.random.default_rng(1).random((2, count, 2)) - 0.5
    to_low, to_high = (-0.25 - a) / (b - a), (0.25 - a) / (b - a)
    enter = np.maximum(np.minimum(to_low, to_high).max(axis=1), 0.0)
    leave = np.minimum(np.maximum(to_low, to_high).min(axis=1), 1.0)
    far = np.linalg.norm(b - a, axis=1)
    return float((np.maximum(leave - enter, 0.0) * far).sum() / far.sum())


def test_positions_before_on_between_and_after_legs() -> None:
    legs = legs_of([(1, 3, 0, 0, 2, 4), (5, 5, 2, 4, 9, 9), (5, 6, 9, 9, 8, 9)])
    expected = {0: (0, 0), 1: (0, 0), 2: (1, 2), 3: (2, 4), 4.9: (2, 4), 5: (9, 9), 5.5: (8.5, 9)}
    for t, place in {**expected, 6: (8, 9), 99: (8, 9)}.items():
        assert positions(legs, t).tolist() == [list(place)]


@given(st.integers(0, 2**64 - 1), st.lists(st.floats(0, 60), min_size=1, max_size=8))
def test_a_cursor_changes_nothing(seed: int, times: list[float]) -> None:
    legs = random_waypoint(5, 50, 20, speed=(5, 20), pause=(0, 3), seconds=50, seed=seed)
    cursor = legs.first[:-1].copy()
    for t in sorted(times):
        assert np.array_equal(positions(legs, t, cursor), positions(legs, t))


@given(st.integers(0, 2**64 - 1), st.sampled_from(["stationary", "uniform"]))
def test_paths_join_and_keep_to_the_area_the_speeds_and_the_pauses(seed: int, start: str) -> None:
    legs = random_waypoint(
        4, 90, 30, speed=(2, 9), pause=(1, 4), seconds=80, seed=seed, start=start
    )  # type: ignore[arg-type]
    check_legs(legs)
    for x, high in ((legs.x0, 90), (legs.x1, 90), (legs.y0, 30), (legs.y1, 30)):
        assert ((x >= 0) & (x <= high)).all()
    far = np.hypot(legs.x1 - legs.x0, legs.y1 - legs.y0)
    v = far / (legs.t1 - legs.t0)
    assert ((v > 2 - 1e-6) & (v < 9 + 1e-6)).all()
    inner = np.ones(len(v), bool)
    inner[legs.first[:-1]] = False
    k = np.flatnonzero(inner)
    assert np.array_equal(legs.x0[k], legs.x1[k - 1])
    assert np.array_equal(legs.y0[k], legs.y1[k - 1])
    pause = legs.t0[k] - legs.t1[k - 1]
    assert ((pause > 1 - 1e-9) & (pause < 4 + 1e-9)).all()
    assert (legs.t0[inner] < 80).all()


def test_a_node_keeps_its_path_with_other_nodes_and_longer_runs() -> None:
    few = random_waypoint(3, 100, 100, speed=(1, 5), seconds=100, seed=7)
    many = random_waypoint(50, 100, 100, speed=(1, 5), seconds=900, seed=7)
    for t in (0.0, 50.0, 99.0):
        assert np.array_equal(positions(few, t), positions(many, t)[:3])
    other = random_waypoint(3, 100, 100, speed=(1, 5), seconds=100, seed=8)
    assert not np.array_equal(positions(few, 0.0), positions(other, 0.0))


@pytest.mark.parametrize(("low", "high"), [(0.5, 20.0), (10.0, 20.0)])
def test_the_mean_speed_is_constant_from_a_stationary_start(low: float, high: float) -> None:
    legs = random_waypoint(20_000, 1000, 1000, speed=(low, high), seconds=900, seed=1)
    # Speeds have the density 1 / (v ln(high / low)): their mean is the harmonic one.
    mean = (high - low) / np.log(high / low)
    spread = np.sqrt((high**2 - low**2) / 2 / np.log(high / low) - mean**2)
    for t in (0.0, 10.0, 100.0, 400.0, 800.0):
        assert speeds(legs, t).mean() == pytest.approx(mean, abs=4 * spread / np.sqrt(20_000))


def test_the_mean_speed_decays_from_a_uniform_start() -> None:
    legs = random_waypoint(
        5_000, 1000, 1000, speed=(0.01, 20), seconds=3000, seed=1, start="uniform"
    )
    means = [speeds(legs, t).mean() for t in (0.0, 100.0, 500.0, 2900.0)]
    assert means[0] == pytest.approx(10.0, abs=0.35)
    assert (np.diff(means) < -0.3).all()
    assert means[-1] < 5.5  # on its way to 19.99 / ln 2000 = 2.63


def test_pauses_are_as_frequent_as_their_duration() -> None:
    legs = random_waypoint(20_000, 1000, 1000, speed=(5, 15), pause=(0, 120), seconds=300, seed=3)
    trip = 521.405 * np.log(3) / 10  # mean distance in the square, mean slowness
    expected = 60 / (60 + trip)
    for t in (0.0, 20.0, 60.0, 250.0):
        assert (speeds(legs, t) == 0.0).mean() == pytest.approx(expected, abs=0.015)


def test_nodes_are_denser_in_the_centre_from_the_start() -> None:
    legs = random_waypoint(20_000, 1000, 1000, speed=(10, 20), seconds=200, seed=5)
    # At constant speed the share of time in an area is the share of the legs' length in it.
    middle = length_in_the_centre(100_000)
    assert middle == pytest.approx(0.45, abs=0.03)  # Bettstetter's 36 xy(1-x)(1-y) has 0.473
    for t in (0.0, 30.0, 200.0):
        position = positions(legs, t)
        assert central(position) == pytest.approx(middle, abs=0.015)
        border = (np.abs(position - 500.0) > 450.0).any(axis=1).mean()
        assert border < 0.07  # 0.19 if uniform
    naive = random_waypoint(
        20_000, 1000, 1000, speed=(10, 20), seconds=900, seed=5, start="uniform"
    )
    assert central(positions(naive, 0.0)) == pytest.approx(0.25, abs=0.02)
    assert central(positions(naive, 800.0)) == pytest.approx(
        central(positions(legs, 0.0)), abs=0.02
    )


def test_one_speed_and_thin_areas() -> None:
    legs = random_waypoint(2_000, 1000, 1e-3, speed=(3, 3), seconds=10, seed=1)
    assert speeds(legs, 0.0).mean() == pytest.approx(3.0, rel=1e-3)


def test_static_nodes_never_move() -> None:
    place = np.array([[1.0, 2.0], [3.0, 4.0]])
    legs = still(place)
    for t in (-5.0, 0.0, 1e9):
        assert np.array_equal(positions(legs, t), place)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"n": 0}, "n = 0"),
        ({"width": 0.0}, "width = 0"),
        ({"height": np.inf}, "height = inf"),
        ({"speed": (5, 1)}, r"speed = \(5, 1\)"),
        ({"speed": (0, 0)}, r"speed = \(0, 0\)"),
        ({"speed": (0, 5)}, "low > 0 for a stationary start"),
        ({"speed": (1, np.nan)}, "speed"),
        ({"pause": (-1, 1)}, r"pause = \(-1, 1\)"),
        ({"seconds": 0.0}, "seconds = 0"),
        ({"seed": -1}, "seed = -1"),
        ({"start": "warm"}, "start = 'warm'"),
    ],
)
def test_bad_values_are_named(change: dict[str, object], said: str) -> None:
    good: dict[str, object] = {"n": 3, "width": 10, "height": 10, "speed": (1, 2), "seconds": 5}
    with pytest.raises(Problem, match=said):
        random_waypoint(**{**good, "seed": 1, **change})  # type: ignore[arg-type]


def test_invalid_legs_are_refused() -> None:
    for bad in (
        legs_of([(0, 1, 0, 0, 1, 1)], []),
        legs_of([(2, 1, 0, 0, 1, 1)]),
        legs_of([(0, 2, 0, 0, 1, 1), (1, 3, 1, 1, 2, 2)]),
        legs_of([(0, 2, 0, np.nan, 1, 1)]),
        Legs(np.zeros(1, np.int64), *(np.empty(0) for _ in range(6))),
    ):
        with pytest.raises(Problem):
            check_legs(bad)
    check_legs(legs_of([(0, 5, 0, 0, 1, 1)], [(0, 5, 0, 0, 1, 1)]))
    with pytest.raises(Problem, match="expected a pair of numbers"):
        still([[1.0, 2.0, 3.0]])


@given(st.integers(0, 2**32), st.lists(st.floats(0.1, 9.0), min_size=1, max_size=12))
def test_windows_of_a_course_join_to_the_whole(seed: int, widths: list[float]) -> None:
    model: dict[str, Any] = {"speed": (1, 15), "pause": (0, 3), "seconds": 40.0, "seed": seed}
    whole, course = random_waypoint(9, 50, 20, **model), WaypointMotion(9, 50, 20, **model)
    for _ in range(2):  # a window from the start restarts the course
        t = 0.0
        for width in widths:
            legs = course.legs(t, t + width)
            check_legs(legs)
            for at in (t, t + 0.37 * width, t + width):
                if at < 40.0:
                    assert np.array_equal(positions(legs, at), positions(whole, at))
            t += width
