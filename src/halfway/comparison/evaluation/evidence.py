"""The evidence of a comparison on one need: two p-values, for "does not meet the need" and "meets
the need".

All tests are one-sided, on one margin per replicate. A margin is positive if the need is met.
"""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from halfway.comparison.evaluation.cell_statistics import Floats, paired
from halfway.comparison.evaluation.comparison_results import Metric, Need, ResultCell
from halfway.pipeline.statistics.estimates import p_above

_TINY = 1e-12  # a margin of 0 meets a need
_CAP = 5.0  # of a margin over another system, in the needed bound


class PValues(NamedTuple):
    """The p-values of two statements about a system and a need; a small value is evidence against
    its statement.
    """

    failing: float  # against "the system fails the need"; 1 if it has gaps
    meeting: float  # against "the system meets the need"


NO_EVIDENCE = PValues(1.0, 1.0)  # of one replicate


class Evidence(NamedTuple):
    """The evidence on one system and one need."""

    margins: Sequence[Floats]  # one array, or, if the best counts, one for each other system
    metric: Metric
    most: float  # the greatest margin that is possible
    cap: float  # margins over another system are also tested with this greatest value
    gaps: bool  # the system has no value in a replicate in which another one has a value
    missed: int  # replicates that miss the need, or in which only other systems have a value
    replicates: int  # replicates in which a system has a value

    def against(self, growth: float = 1.0) -> PValues:
        """Return the two p-values of the evidence on a need.

        growth: the number of replicates over the present number, if further replicates were like
        the present ones.
        """
        grown = self.margins
        if growth != 1.0:
            grown = [np.resize(values, round(len(values) * growth)) for values in grown]
        failing = max((self._failing(values + _TINY) for values in grown), default=0.0)
        meeting = min((p_of(-values, self.metric) for values in grown), default=1.0)
        return PValues(1.0 if self.gaps else failing, min(1.0, len(grown) * meeting))

    def _failing(self, margins: Floats) -> float:
        """Return the p-value of "the mean of these margins is not above 0", as evidence on a need.

        A mean that is not above 0 does not rise if margins are capped. The second test is for a
        system with large losses in a few replicates, because its large spread hides these losses.
        """
        p, capped = p_of(margins, self.metric, self.most), np.minimum(margins, self.cap)
        if np.array_equal(capped, margins):
            return p
        return min(1.0, 2.0 * min(p, p_of(capped, self.metric, self.cap)))


def evidence_on(
    need: Need, metric: Metric, cells: Mapping[tuple[str, str], ResultCell], systems: Sequence[str]
) -> dict[str, Evidence]:
    """Return the evidence on a decision's need for each system.

    If the best counts, a system with fewer than two values says nothing about the others.
    """
    values = {system: np.array(cells[system, need.metric].values) for system in systems}
    # A replicate in which no system has a value (no node failed) says nothing about the need.
    expected = np.any([np.isfinite(column) for column in values.values()], axis=0)
    evidence = {}
    for system, column in values.items():
        most = cap = math.inf
        if need.of_best:
            others = [
                other
                for name, other in values.items()
                if name != system and np.isfinite(other).sum() > 1
            ]
            margins = [paired(column, other) + need.bound for other in others]
            worst = column - np.fmax.reduce(others) + need.bound if others else column
            cap = _CAP * need.bound
        else:
            more = metric.better == "more"
            own = column[np.isfinite(column)] - need.bound
            margins = [own if more else -own]
            worst = (column - need.bound) * (1.0 if more else -1.0)
            most = (metric.bounds[1] - need.bound) if more else (need.bound - metric.least)
        gaps = not np.isfinite(column[expected]).all() or not expected.any()
        met = np.isfinite(column) & ~(worst < -_TINY)
        counts = int((expected & ~met).sum()), int(expected.sum())
        evidence[system] = Evidence(margins, metric, most, cap, bool(gaps), *counts)
    return evidence


def p_of(margins: Floats, metric: Metric, most: float = math.inf) -> float:
    """Return the evidence's p-value of "the mean margin is not above 0"; no margin exceeds `most`.

    Equal shares in all replicates have no spread. A rare loss may then have been missed, so the
    p-value comes from the sign test: one half to the power of the replicates.
    """
    p = p_above(margins, most=most)
    return 0.5 ** len(margins) if p == 0.0 and metric.most == 1.0 else p
