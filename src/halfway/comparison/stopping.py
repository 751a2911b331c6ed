"""How long replicates are added: until an interval is tight, and what is told where none came."""

from collections.abc import Sequence
from typing import NamedTuple

from halfway.comparison.estimates import half_width
from halfway.comparison.metrics import SHARES
from halfway.comparison.results import Cell


class Until(NamedTuple):
    """Replicates are added until the interval of a metric is that tight for all systems."""

    half_width: float  # a share of the mean; of 1 for what is a share itself
    metric: str = "delivery-ratio"


def loose(until: Until | None, cells: Sequence[Cell]) -> list[Cell]:
    """The cells whose interval is wider than asked for.

    A system that has no value of the metric is not among them: it never gets an interval, however
    long one waits.
    """
    if until is None:
        return []
    relative = until.metric not in SHARES
    mine = [cell for cell in cells if cell.metric == until.metric and cell.networks]
    return [cell for cell in mine if half_width(cell, relative=relative) > until.half_width]


def stopped(until: Until | None, cells: Sequence[Cell], begun: int, replicates: int) -> str:
    """Why no more replicates than these were added to those that it begun with; "" if nothing."""
    if until is None:
        return ""
    mine = [cell for cell in cells if cell.metric == until.metric]
    if not any(cell.networks for cell in mine):
        return f"No system has a value of {until.metric}, so there was no interval to wait for."
    if wide := list(dict.fromkeys(cell.system for cell in loose(until, cells))):
        return (
            f"Stopped at {replicates} replicates, the most that were allowed; {until.metric} is "
            f"not yet as tight as asked for: {', '.join(wide)}."
        )
    if replicates == begun:
        return ""
    return (
        f"Replicates were added until the intervals of {until.metric} were tight, so these come "
        "out a little narrower than they would from a number fixed beforehand."
    )
