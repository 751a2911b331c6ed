"""The value ranges of records: the allowed values of a header field or vector entry of a record
kind.

A range is part of a kind's declaration. Three things follow from it: which records a node refuses,
how many bytes a value has on the wire, and how the page of messages describes it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

_MOST_I4, _MOST_U4 = 2.0**31 - 1.0, 2.0**32 - 1.0
# The integers on the wire, the shortest first, with the least and the greatest of each.
_INTEGERS = tuple(
    (form, np.iinfo(form).min, np.iinfo(form).max)
    for form in (np.dtype(f"<{kind}{size}") for size in (1, 2, 4, 8) for kind in "ui")
)
_REAL = np.dtype("<f8")


class ValueRange(NamedTuple):
    """A range of values in a record field, with both ends. The values are finite unless `low` is
    -inf; that range contains every double, and NaN.

    limit: the name of a limit of the instance, such as the number of topics, or "". The values are
    below this limit too. Limits are sizes of the state.
    """

    low: float
    high: float
    whole: bool = True  # True: only whole numbers, also in `reals`
    limit: str = ""

    @property
    def finite(self) -> bool:
        """Whether every value of a record field's range is finite."""
        return self.low > -np.inf

    def holds(self, values: npt.NDArray[Any]) -> bool:
        """Return whether a record field's range contains all these values, under any limits of an
        instance.
        """
        within: npt.NDArray[np.bool_] = (values >= self.low) & (values <= self.high)
        return bool(within.all()) or not self.finite

    @property
    def form(self) -> np.dtype[np.generic]:
        """The wire form of the values in a record field's range: the shortest integer type with
        room, or a double.
        """
        if self.whole:
            for form, least, most in _INTEGERS:
                if least <= self.low and self.high <= most:
                    return form
        return _REAL

    def highest(self, limits: Mapping[str, int]) -> float:
        """Return the highest value of a record field's range under the limits of an instance."""
        return (
            min(self.high, limits.get(self.limit, self.high + 1) - 1) if self.limit else self.high
        )


def whole(low: float, high: float) -> ValueRange:
    """Return the value range of a record field with whole numbers from `low` to `high`."""
    return ValueRange(low, high)


def real(low: float, high: float) -> ValueRange:
    """Return the value range of a record field with real numbers from `low` to `high`."""
    return ValueRange(low, high, whole=False)


def below(limit: str, most: float = _MOST_I4, *, or_none: bool = False) -> ValueRange:
    """Return the value range of a record field with an index: from 0 to just below a limit that an
    instance gives.

    most: largest index under any limit, which fixes the form on the wire. or_none: whether the
    range begins with -1, which stands for no index.
    """
    return ValueRange(-1.0 if or_none else 0.0, most, limit=limit)


NODE = whole(0, _MOST_I4)  # a node id
NODE_OR_NONE = whole(-1, _MOST_I4)
NUMBER = whole(0, _MOST_I4)
NUMBER_OR_NONE = whole(-1, _MOST_I4)
COUNT = whole(0, _MOST_I4 - 1)  # this number plus 1 is still an integer of a record
BITS = whole(-(2.0**31), _MOST_I4)  # 32 bits without a meaning as a number
BYTE = whole(0, 255)
SWITCH = whole(0, 1)  # false or true
REAL = real(-1e300, 1e300)  # the difference of two such values is finite
DOUBLE = real(-np.inf, np.inf)  # any double; NaN stands for no value
SHARE = real(0.0, 1.0)
SECONDS = real(-1e15, 1e15)  # a time; below 1e9 s, doubles resolve a microsecond
AGE_S = real(0.0, 1e15)  # seconds
EPOCH = whole(0, _MOST_U4)  # an incarnation of a node

# The ranges of the header fields that a protocol fills, unless a table of kinds has its own.
HEADER = {
    "flags": BYTE,
    "target": NODE_OR_NONE,
    "topic": below("topics"),
    "event": NUMBER,
    "publisher": NODE,
    "epoch": EPOCH,
    "sequence": NUMBER,
}
