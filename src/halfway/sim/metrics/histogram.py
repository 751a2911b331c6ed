"""A distribution in bounded memory: exact count, sum and largest; quantiles within 0.8 %."""

import numpy as np
import numpy.typing as npt

# Bins are the leading 7 bits of the mantissa: read off the bits of a double, so no logarithm, whose
# last bit differs between machines, decides which one a value falls into.
_BITS = 52 - 7


class Histogram:
    """Counts of non-negative numbers by relative size."""

    def __init__(self) -> None:
        self.count, self.sum, self.largest = 0, 0.0, 0.0
        self._bins: dict[int, tuple[int, float]] = {}  # how many, and their sum

    def add(self, values: npt.ArrayLike) -> None:
        """Count some numbers >= 0."""
        given = np.asarray(values, np.float64).ravel() + 0.0
        if not len(given):
            return
        self.count += len(given)
        self.largest = max(self.largest, float(given.max()))
        # One number after the other, known sums first: no last bit depends on the batches.
        self.sum = float(np.add.accumulate(np.concatenate(([self.sum], given)))[-1])
        bins, which = np.unique(given.view(np.int64) >> _BITS, return_inverse=True)
        known = [self._bins.get(place, (0, 0.0)) for place in bins.tolist()]
        before = np.array([total for _, total in known])
        sums = np.bincount(
            np.concatenate((np.arange(len(bins)), which)), np.concatenate((before, given))
        )
        counts = np.bincount(which)
        for k, place in enumerate(bins.tolist()):
            self._bins[place] = known[k][0] + int(counts[k]), float(sums[k])

    @property
    def mean(self) -> float:
        """Exact; nan when nothing was counted."""
        return self.sum / self.count if self.count else float("nan")

    def quantile(self, share: float) -> float:
        """The smallest value with at least that share of all at or below it, within 0.8 %.

        It is the mean of its bin: whole numbers up to 128 come out as they are.
        """
        if not self.count:
            return float("nan")
        wanted, passed = max(1, int(np.ceil(share * self.count - 1e-9))), 0
        for place in sorted(self._bins):
            many, total = self._bins[place]
            passed += many
            if passed >= wanted:
                return total / many
        raise AssertionError("counts of bins add up to the count")
