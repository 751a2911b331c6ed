"""How long replicates are added, and what is told of it."""

import math

import numpy as np

from halfway.comparison.estimates import cells_of
from halfway.comparison.metrics import METRICS
from halfway.comparison.results import Cell
from halfway.comparison.stopping import Until, loose, stopped

TENTH = Until(0.1, "energy")


def cells(**values: list[float]) -> list[Cell]:
    """Cells of energy, a list of values a system."""
    (metric,) = (one for one in METRICS if one.name == "energy")
    return cells_of(0, metric, {name: np.array(own) for name, own in values.items()}, "flooding")


def test_what_is_tight_is_told_only_where_replicates_were_added() -> None:
    found = cells(flooding=[10.0, 10.1, 9.9], gossip=[5.0, 5.1, 4.9])
    assert not loose(TENTH, found)
    assert stopped(TENTH, found, 3, 3) == ""
    assert stopped(TENTH, found, 2, 3).startswith("Replicates were added until the intervals of en")
    assert stopped(None, found, 2, 3) == ""


def test_who_is_not_tight_at_the_most_is_named() -> None:
    found = cells(flooding=[10.0, 10.1, 9.9], gossip=[5.0, 9.0, 1.0])
    assert [cell.system for cell in loose(TENTH, found)] == ["gossip"]
    told = stopped(TENTH, found, 2, 3)
    assert told.startswith("Stopped at 3 replicates")
    assert told.endswith("energy is not yet as tight as asked for: gossip.")


def test_a_metric_that_nobody_has_is_told() -> None:
    found = cells(flooding=[math.nan, math.nan])
    assert not loose(TENTH, found)
    assert stopped(TENTH, found, 2, 2).startswith("No system has a value of energy")
