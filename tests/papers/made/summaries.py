"""Summaries that a rule makes, one for each planned point and asked metric; and ways to spoil it.

A rule gives the mean of a metric at a point, or some fields of its summary. A spoiler changes every
value of a rule, so that claims about these values fail.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Figure, Summaries
from halfway.pipeline.statistics.summary import Summary

Parameters = Mapping[str, Any]
Rule = Callable[[str, Parameters], float | Mapping[str, float]]
Spoiler = Callable[[float, str], float]  # of a value and of what identifies it

NETWORKS, UNITS = 20, 2000
_BOOT = tuple(1 + 0.002 * math.sin(i) for i in range(40))


@dataclass(frozen=True)
class Made(Summaries):
    """The summaries of a figure's planned points under a rule."""

    points: Sequence[dict[str, Scalar]] = ()
    rule: Rule = lambda _metric, _point: 1.0
    spoiler: Spoiler = lambda value, _name: value

    def select(self, metric: str, **parameters: Scalar) -> list[Summary]:
        wanted = parameters.items()
        return [self._summary(metric, point) for point in self.points if wanted <= point.items()]

    def _summary(self, metric: str, point: dict[str, Scalar]) -> Summary:
        ruled = self.rule(metric, point)
        fields = dict(ruled) if isinstance(ruled, Mapping) else {"mean": ruled}
        fields = {
            name: self.spoiler(value, f"{metric} {name} {sorted(point.items())}")
            for name, value in fields.items()
        }
        return summary(metric, point, **fields)


def summary(metric: str, point: dict[str, Scalar], mean: float, **fields: float) -> Summary:
    """A summary of a narrow distribution around a mean; its median is the mean unless given."""
    median = fields.pop("median", mean)
    made: dict[str, Any] = {
        "mean_low": mean - 0.004 * abs(mean), "mean_high": mean + 0.004 * abs(mean),
        "median_low": median - 0.004 * abs(median), "median_high": median + 0.004 * abs(median),
        "lower_quartile": 0.9 * median, "upper_quartile": 1.1 * median,
        "lower_whisker": 0.8 * median, "upper_whisker": 1.2 * median,
        "minimum": mean, "maximum": mean, "outliers": 0.01,
    } | fields  # fmt: skip
    return Summary(
        parameters=point, metric=metric, networks=NETWORKS, units=UNITS, mean=mean, median=median,
        boot_mean=tuple(mean * b for b in _BOOT), boot_median=tuple(median * b for b in _BOOT),
        **made,
    )  # fmt: skip


def made(figure: Figure, rule: Rule, spoiler: Spoiler | None = None) -> Made:
    """The summaries of a figure under a rule, spoiled if there is a spoiler."""
    points = [point.parameters for point in figure.points("paper")]
    return Made([], points, rule, *([spoiler] if spoiler else []))


def _scattered(seed: int) -> Spoiler:
    def spoil(value: float, name: str) -> float:
        drawn = hashlib.sha256(f"{seed} {name}".encode()).digest()
        return value * math.exp(4 * (int.from_bytes(drawn[:4], "big") / 2**32 - 0.5))

    return spoil


# Orders turn round, values leave their tolerance, and equal values part.
SPOILERS: tuple[Spoiler, ...] = (
    lambda value, _name: 1 / value if value else 9.0,
    lambda value, _name: 30 * value,
    lambda value, _name: value / 30,
    lambda value, _name: value + 7,
    *(_scattered(seed) for seed in range(8)),
)
