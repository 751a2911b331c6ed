"""Recovery: from a fault to the first of three publications in a row that reach everybody."""

import math

import numpy as np
import pytest

from halfway.comparison.recovery import recovery

EVERY_SECOND = np.arange(10.0)


def told(broken: list[float], whole: str, at: np.ndarray = EVERY_SECOND) -> tuple[float, float]:
    good = np.array([one == "+" for one in whole], bool)
    return recovery(np.array(broken), at[: len(good)], good)


@pytest.mark.parametrize(
    ("broken", "whole", "seconds", "share"),
    [
        ([2.5], "++++++++++", 0.5, 1.0),  # the next event is already well
        ([2.0], "++++++++++", 0.0, 1.0),  # a fault comes before what is published at its instant
        ([2.5], "+++--+-+++", 4.5, 1.0),  # one good event is luck
        ([2.5], "+++--++-++", math.nan, 0.0),  # two are, too
        ([2.5, 5.5], "+++-+++---", 1.5, 0.5),  # the second never came back: told as a share
        ([7.5], "+++++++---", math.nan, math.nan),  # fewer than three events left: not judged
        ([], "++++++++++", math.nan, math.nan),
        ([0.5], "", math.nan, math.nan),
    ],
)
def test_recovery(broken: list[float], whole: str, seconds: float, share: float) -> None:
    found = told(broken, whole)
    assert found == pytest.approx((seconds, share), nan_ok=True)
