"""The numbers that the words of the papers stand for: one table for all five papers.

No paper says how near "close" is. Two rules, and never a result, give the numbers: a word of
nearness allows a quarter, and a stronger word of nearness ("very", "nearly") allows a tenth.
"""

from typing import NamedTuple

NEAR = 0.25
VERY_NEAR = 0.10
HARD = 0.10
MUCH = 2.0
LIMITED = 0.20
VANISHING = 1.25
STRAIGHT = 0.97
UNCORRELATED = 0.10
RARE = 0.02
LINEAR = 1.1  # an exponent a tenth above that of a line
TOO_SENSITIVE = 0.75  # a quarter below the exponent of flooding

# Tolerances of printed numbers.
DEGREE_TOLERANCE = 0.05
STEPS_TOLERANCE = 0.10  # both sides come from 100 networks; their own intervals are about that wide
LOAD_TOLERANCE = 0.03  # a mean over all nodes and permutations varies little
EXTREME_TOLERANCE = 0.15  # the largest of 10^5 loads depends on one bottleneck
MEAN_TOLERANCE = 0.01  # the mean of draws from a known distribution
MEETING_TOLERANCE = 0.10  # the mean time until two walks on a torus meet
FAR = 1.5  # a printed mean this many times the measured one is no error in reading a figure
BAND = 0.15  # a measured rate of false positives, relative to the formula's


class Threshold(NamedTuple):
    """The words of the papers that share a threshold, and the meaning of the threshold."""

    words: tuple[str, ...]
    value: float
    meaning: str


THRESHOLDS = (
    Threshold(
        ("close", "similar", "comparable", "good"), NEAR,
        "the difference from equality is at most this share",
    ),
    Threshold(
        ("very close", "very similar", "nearly the same", "almost", "as efficient", "as good",
         "independent", "converge", "constant", "reached"),
        VERY_NEAR,
        "the difference from equality, from the limit or from the maximum is at most this share",
    ),
    Threshold(("hard to obtain",), HARD, "at most this share of the draws is connected"),
    Threshold(("much more", "dictated by"), MUCH, "the ratio is at least this factor"),
    Threshold(("limited",), LIMITED, "the benefit is at most this share of the earlier benefit"),
    Threshold(("vanish",), VANISHING, "a share that falls by more than this factor vanishes"),
    Threshold(
        ("logarithmic",), STRAIGHT, "R² of a line over the logarithm is at least this value"
    ),
    Threshold(
        ("no correlation",), UNCORRELATED,
        "the absolute value of the correlation r is at most this value",
    ),
    Threshold(("too sensitive",), TOO_SENSITIVE,
              "the exponent of n is above this value. Growth in proportion to n has the "
              "exponent 1"),
    Threshold(("linear",), LINEAR, "the exponent of the growth is below this value"),
    Threshold(("less", "decreases"), RARE,
              "the share of the pairs with the claimed order, minus the share of the pairs with "
              "the opposite order, is at least this value"),
    Threshold(("instead of",), RARE,
              "a monitor that replaces gossip is wrong for at most this share of the time"),
)  # fmt: skip


def percent(share: float) -> str:
    """Return a threshold as a percentage, such as "25 %"."""
    return f"{100 * share:.0f} %"
