"""The numbers of a node in each of its incarnations."""

from typing import Any

import numpy as np
import pytest

from halfway.core.compiled import kernel
from halfway.core.values.ranges import COUNT
from halfway.protocols.parts import incarnation_numbers

LAST = 2**32 - 1  # the largest incarnation of a node


@kernel
def number_before(incarnation: Any) -> Any:
    return incarnation_numbers.number_before(incarnation)


def test_the_numbers_of_later_incarnations_are_higher() -> None:
    """Those of the first one are the numbers from 0. Each incarnation has 2^16 numbers."""
    numbers = [int(number_before(np.uint32(incarnation))) for incarnation in range(2**14)]
    assert numbers == [incarnation << 16 for incarnation in range(2**14)]


@pytest.mark.parametrize("incarnation", [2**14, 217_000_000, LAST])
def test_each_number_of_any_incarnation_fits_a_record(incarnation: int) -> None:
    """Live nodes without a folder have large incarnations."""
    before = number_before(np.uint32(incarnation))
    assert 0 <= before < before + 2**16 <= 2**30 < COUNT.high
