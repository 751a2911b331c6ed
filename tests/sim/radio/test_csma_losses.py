"""Losses of the CSMA radio without collisions: per link, for frames and for acknowledgements."""

from functools import partial

import numpy as np
import pytest

from halfway.problem import Problem
from halfway.sim.engine.state import RECEIVED, SENT
from halfway.sim.radio.csma import WIFI_B, csma
from halfway.sim.radio.declarations import CsmaRadio
from halfway.world.mobility.motion import still
from tests.networks import from_links
from tests.sim.radio.loads import Command, play

PAIR = from_links(2, [(0, 1)])
THERE, BACK = 0.7, 0.4
COUNT = 4000
RESTING = partial(still, [[0, 0], [1, 0]])
SUCCESS = np.array([THERE, BACK], np.float32)  # by place: 0 to 1, 1 to 0


def apart(row: int, to: int) -> list[Command]:
    """Commands so far apart that no two frames of them meet."""
    return [(float(k), row, to, 0) for k in range(COUNT)]


@pytest.mark.parametrize(("row", "share"), [(0, THERE), (1, BACK)])
def test_a_broadcast_is_received_with_the_ratio_of_its_link(row: int, share: float) -> None:
    traffic = play(PAIR, csma(2, 1, WIFI_B, SUCCESS), apart(row, -1)).counters.traffic
    assert int(traffic[row, SENT].sum()) == COUNT
    assert traffic[1 - row, RECEIVED].sum() / COUNT == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("retries", [0, 2])
def test_a_lost_acknowledgement_repeats_the_frame(retries: int) -> None:
    timing = WIFI_B._replace(retries=retries)
    traffic = play(PAIR, csma(2, 1, timing, SUCCESS), apart(0, 1)).counters.traffic
    tries = sum((1 - THERE * BACK) ** k for k in range(retries + 1))
    assert traffic[0, SENT].sum() / COUNT == pytest.approx(tries, rel=0.03)
    # The receiver accepts a frame once. A frame that arrived may be repeated without need.
    lost = (1 - THERE) ** (retries + 1)
    assert traffic[1, RECEIVED].sum() / COUNT == pytest.approx(1 - lost, abs=0.02)


def test_perfect_links_draw_nothing() -> None:
    for success in (1.0, np.ones(2, np.float32)):
        assert len(csma(2, 1, WIFI_B, success).success) == 0
    assert len(csma(2, 1, WIFI_B, 0.5).success) == 1


def test_the_declaration_takes_one_ratio_or_a_table() -> None:
    assert CsmaRadio(success=0.5).made(PAIR, RESTING, 1).success.tolist() == [0.5]
    with pytest.raises(Problem, match=r"radio.success = 2: expected a number from 0 to 1"):
        CsmaRadio(success=2.0).made(PAIR, None, 1)
    with pytest.raises(Problem, match=r"radio.ratios: expected a network whose nodes do not move"):
        CsmaRadio(ratios="links.csv", ratio_columns=("pdr",)).made(PAIR, RESTING, 1)
    with pytest.raises(Problem, match=r"radio.ratio_scale = 0: expected a positive"):
        CsmaRadio(ratios="x.csv", ratio_columns=("pdr",), ratio_scale=0.0).made(PAIR, None, 1)
