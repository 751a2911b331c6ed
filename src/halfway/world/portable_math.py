"""Portable exp and log: the same bits on every machine.

The exp and log of two machines may differ in the last bit, and so would a network drawn with them.
These functions use only + - * / and exact scaling by powers of two.
"""

import math

from halfway.core.compiled import inlined

_LOG2_E = 1.4426950408889634
# ln 2 in two parts: the first has so few bits that its products with small integers are exact.
_LN2_HIGH = 6.93147180369123816490e-01
_LN2_LOW = 1.90821492927058770002e-10
_SQRT_HALF = 0.7071067811865476
_VANISHES = -745.0  # below it, exp is less than the least positive double
_ORDER = 13  # of the Taylor sum: r^14 / 14! is below 2^-57 for |r| <= ln 2 / 2
_TERMS = 12  # of the series of atanh: z^25 / 25 is below 2^-65 for |z| <= 0.172


@inlined
def exponential(x):
    """Return the portable e^x for x < 700, within two units in the last place; 0 below -745."""
    if x < _VANISHES:
        return 0.0
    k = math.floor(x * _LOG2_E + 0.5)
    r = (x - k * _LN2_HIGH) - k * _LN2_LOW
    total = 1.0
    for order in range(_ORDER, 0, -1):
        total = 1.0 + total * r / order
    return math.ldexp(total, int(k))


@inlined
def logarithm(x):
    """Return the portable natural logarithm of a positive x."""
    part, k = math.frexp(x)
    if part < _SQRT_HALF:
        part, k = part * 2.0, k - 1
    z = (part - 1.0) / (part + 1.0)  # ln(part) = 2 atanh(z)
    square = z * z
    total = 0.0
    for term in range(_TERMS, -1, -1):
        total = total * square + 1.0 / (2 * term + 1)
    return k * _LN2_HIGH + (2.0 * z * total + k * _LN2_LOW)
