"""Histograms of metrics in bounded memory: exact count, sum and maximum; quantiles within 0.8 %."""

import numpy as np
import numpy.typing as npt

# A bin is the exponent and the leading 7 bits of the mantissa, taken from the bits of a double. A
# logarithm would choose bins by its last bit, which differs between machines.
_BITS = 52 - 7


class Histogram:
    """A histogram of non-negative numbers: counts in bins of equal relative width."""

    def __init__(self) -> None:
        self.count, self.sum, self.max = 0, 0.0, 0.0
        self._bins: dict[int, tuple[int, float]] = {}  # count and sum

    def add(self, values: npt.ArrayLike) -> None:
        """Add numbers >= 0 to the histogram."""
        seconds = np.asarray(values, np.float64).ravel() + 0.0
        if not len(seconds):
            return
        self.count += len(seconds)
        self.max = max(self.max, float(seconds.max()))
        # The numbers are added one by one, after the known sums, so that the last bit does not
        # depend on the batches.
        self.sum = float(np.add.accumulate(np.concatenate(([self.sum], seconds)))[-1])
        bins, which = np.unique(seconds.view(np.int64) >> _BITS, return_inverse=True)
        known = [self._bins.get(place, (0, 0.0)) for place in bins.tolist()]
        before = np.array([total for _, total in known])
        sums = np.bincount(
            np.concatenate((np.arange(len(bins)), which)), np.concatenate((before, seconds))
        )
        counts = np.bincount(which)
        for k, place in enumerate(bins.tolist()):
            self._bins[place] = known[k][0] + int(counts[k]), float(sums[k])

    @property
    def mean(self) -> float:
        """The exact mean of the histogram's numbers; nan if it is empty."""
        return self.sum / self.count if self.count else float("nan")

    def quantile(self, share: float) -> float:
        """Return a quantile of the histogram within 0.8 %: the least value at or above `share` of
        all values.

        The quantile is the mean of its bin, so whole numbers up to 128 are exact.
        """
        if not self.count:
            return float("nan")
        rank, passed = max(1, int(np.ceil(share * self.count - 1e-9))), 0
        for place in sorted(self._bins):
            count, total = self._bins[place]
            passed += count
            if passed >= rank:
                return total / count
        raise AssertionError("counts of bins add up to the count")
