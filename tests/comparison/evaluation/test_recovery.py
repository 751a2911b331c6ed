"""Recovery: from a fault to the first of three consecutive complete events."""

import math

import numpy as np
import pytest

from halfway.comparison.evaluation.recovery import recovery

EVERY_SECOND = np.arange(10.0)


def measured(broken: list[float], whole: str, at: np.ndarray = EVERY_SECOND) -> tuple[float, float]:
    good = np.array([one == "+" for one in whole], bool)
    return recovery(np.array(broken), at[: len(good)], good)


@pytest.mark.parametrize(
    ("broken", "whole", "seconds", "share"),
    [
        ([2.5], "++++++++++", 0.5, 1.0),  # the next event is complete
        ([2.0], "++++++++++", 0.0, 1.0),  # a fault precedes an event of the same instant
        ([2.5], "+++--+-+++", 4.5, 1.0),  # one complete event is not enough
        ([2.5], "+++--++-++", math.nan, 0.0),  # two are not, either
        ([2.5, 5.5], "+++-+++---", 1.5, 0.5),  # no recovery after the second fault
        ([7.5], "+++++++---", math.nan, math.nan),  # fewer than three events left: not judged
        ([], "++++++++++", math.nan, math.nan),
        ([0.5], "", math.nan, math.nan),
    ],
)
def test_recovery(broken: list[float], whole: str, seconds: float, share: float) -> None:
    found = measured(broken, whole)
    assert found == pytest.approx((seconds, share), nan_ok=True)
