"""The number interval workload of DRIP where each node detects an event on its own.

[Yuan & Wu 2009, §VI-A] "we determine whether a node in the network detects the event based on its
detecting abilities".
"""

from dataclasses import dataclass, fields

import numpy as np

from halfway.world.workload.demand import Publications
from halfway.world.workload.number_intervals import NumberIntervals

_MOST = 1 << 30


@dataclass
class IndependentDetection(NumberIntervals):
    """Demand with number intervals, whose events several nodes may detect.

    A node detects an event with its capability as the probability, so that the most capable node
    detects all. Each detection is a publication; all detections of one event have the same time.
    Raises Problem for bad values.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        happened = NumberIntervals(**given).take(np.inf, _MOST)
        drawn = np.random.default_rng(self.seed).random((len(happened.t), self.n))
        which, row = np.nonzero(drawn < self.capability)
        self._all = Publications(
            happened.t[which], row.astype(np.int32), happened.topic[which],
            np.arange(len(which), dtype=np.int32),
        )  # fmt: skip
        self._published = 0

    def next_at(self) -> float:
        """Return the time of the next detection, in seconds, or inf after the last."""
        left = self._all.t[self._published :]
        return float(left[0]) if len(left) else np.inf

    def take(self, until: float, most: int) -> Publications:
        """Return the next detections before `until` (s), at most `most`; each once."""
        first = self._published
        due = int(np.searchsorted(self._all.t, until))
        self._published = max(first, min(due, first + most))
        t, row, topic, event, _ = self._all
        some = slice(first, self._published)
        return Publications(t[some], row[some], topic[some], event[some])
