"""The histogram of seconds at a live node: fixed buckets, cheap enough for every delivery."""

from bisect import bisect_left

BOUNDS_S = tuple(1e-4 * 2**k for k in range(18))  # 100 µs to 13 s, each twice the one before


class SecondsHistogram:
    """A histogram of seconds: the number of observations by bucket, and their sum."""

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_S) + 1)  # the last one is above all bounds
        self.sum_s = 0.0

    def observe(self, seconds: float) -> None:
        """Add one observation to the histogram."""
        self.counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.sum_s += seconds
