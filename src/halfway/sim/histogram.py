"""A distribution in bounded memory: exact count, sum and largest; quantiles within 0.8 %."""

import numpy as np
import numpy.typing as npt

# Bins are the leading 7 bits of the mantissa: read off the bits of a double, so no logarithm, whose
# last bit differs between machines, decides which one a value falls into.
_BITS = 52 - 7
_HALF_BIN = np.int64(1 << (_BITS - 1))


class Histogram:
    """Counts of non-negative numbers by relative size."""

    def __init__(self) -> None:
        self.count, self.sum, self.largest = 0, 0.0, 0.0
        self._bins: dict[int, int] = {}

    def add(self, values: npt.ArrayLike) -> None:
        """Count some numbers >= 0."""
        given = np.asarray(values, np.float64).ravel() + 0.0
        if not len(given):
            return
        self.count += len(given)
        self.sum += float(given.sum())
        self.largest = max(self.largest, float(given.max()))
        bins, counts = np.unique(given.view(np.int64) >> _BITS, return_counts=True)
        for place, many in zip(bins.tolist(), counts.tolist(), strict=True):
            self._bins[place] = self._bins.get(place, 0) + many

    @property
    def mean(self) -> float:
        """Exact; nan when nothing was counted."""
        return self.sum / self.count if self.count else float("nan")

    def quantile(self, share: float) -> float:
        """The smallest value with at least that share of all at or below it, within 0.8 %."""
        if not self.count:
            return float("nan")
        wanted, passed = max(1, int(np.ceil(share * self.count - 1e-9))), 0
        for place in sorted(self._bins):
            passed += self._bins[place]
            if passed >= wanted:
                low = np.int64(place << _BITS)
                middle = float((low + _HALF_BIN).view(np.float64)) if place else 0.0
                return min(middle, self.largest)
        raise AssertionError("counts of bins add up to the count")
