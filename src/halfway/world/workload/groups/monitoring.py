"""The workload of failure detection: all nodes are members, and no event is published."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from halfway.problem import Problem
from halfway.world.workload.demand import Publications
from halfway.world.workload.named_roles import BrokerPeriod, Period


@dataclass
class Monitoring:
    """The demand of members that monitor each other.

    start_s: the time in s from which the metrics count; before it, members learn of each other.
    Raises Problem for a time below 0, or not finite.
    """

    start_s: float = 0.0

    def __post_init__(self) -> None:
        if not 0.0 <= self.start_s < np.inf:
            raise Problem(f"start_s = {self.start_s:g}: expected a finite time >= 0")
        self.topics, self.has_payloads = 1, False
        self.periods: Mapping[tuple[int, int], Period] = {}
        self.publishing_periods: Mapping[tuple[int, int], Period] = {}
        self.brokers: tuple[BrokerPeriod, ...] = ()
        self.shape: tuple[int, ...] = ()
        self.publishers = [np.zeros(0, np.int32)]
        self.subscribers = [np.zeros(0, np.int32)]

    def next_at(self) -> float:
        """Return inf, as members that monitor each other publish nothing."""
        return np.inf

    def next_publications(self, until: float, most: int) -> Publications:
        """Return no publications of monitoring members."""
        del until, most
        none = np.zeros(0, np.int32)
        return Publications(np.zeros(0), none, none, none)

    def begun_again(self) -> "Monitoring":
        """Return the same demand of monitoring members."""
        return self
