"""The 95 % intervals hold the truth in 93 to 97 % of 2,000 studies: ten minutes."""

import pytest

from tests.comparison.studies import coverages


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say() -> None:
    found = coverages()
    assert {what: share for what, share in found.items() if not 0.93 <= share <= 0.97} == {}
