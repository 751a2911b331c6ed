"""How often the 95 % intervals of a comparison cover the mean: studies of runs and distributions.

`python -m tests.comparison.studies` prints the table of docs/comparing.md.
"""

import math
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.comparison.evaluation.metrics import METRICS as ALL_METRICS
from halfway.comparison.plan import SystemSource, point_of
from halfway.pipeline.plan.sweep_plan import plan
from halfway.pipeline.spark.simulate_rows import result
from halfway.pipeline.statistics.estimates import UNBOUNDED, mean_interval
from halfway.scenario.reading import read_scenario

Floats = npt.NDArray[np.float64]
STUDIES, NETWORKS = 20_000, 10  # drawn studies, and the networks of a study
SIMULATED = 6_000  # networks from which the studies of runs are drawn
SHARE, POSITIVE = (0.0, 1.0), (0.0, math.inf)
BY_NAME = {metric.name: metric for metric in ALL_METRICS}
METRICS = ("delivery-ratio", "latency-p50", "latency-p95", "messages-per-notification", "energy",
           "max-node-load", "load-gini")  # fmt: skip
# Small, lossy and short, so that 12,000 runs take minutes.
SCENARIO = """
seconds = 8
discovery_delay_s = 0.0
stretch = false
[network]
kind = "unit-disk"
n = 40
degree = 9.0
[radio]
kind = "ideal"
success = 0.8
[workload]
subscribers_each = 10
events = 4
[options.gossip]
fanout = 2
rounds = 2
"""


def covered(values: Floats, truth: float, bounds: tuple[float, float] = UNBOUNDED) -> float:
    """Share of the studies [studies, networks] whose interval holds the truth."""
    intervals = [mean_interval(study, bounds=bounds)[1:] for study in values]
    return float(np.mean([low <= truth <= high for low, high in intervals]))


def observed(system: str, runs: int = SIMULATED) -> dict[str, Floats]:
    """Metric -> [runs] values of a system, a network each."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(SCENARIO, "utf-8")
        point = point_of(read_scenario(file), SystemSource(system))
    found: dict[str, list[float]] = {name: [] for name in METRICS}
    for row in plan([point], runs).to_pylist():
        values = result(row)["observations"]
        for name, own in found.items():
            own.append(float(values[name][0]) if len(values[name]) else np.nan)
    return {name: np.array(own) for name, own in found.items()}


class Coverage(NamedTuple):
    """How often the intervals of 20,000 studies of 10 networks held the truth."""

    share: float
    differing: float  # share of the networks that do not have the commonest value


def coverages() -> dict[str, Coverage]:
    """Of runs. A study draws from the simulated networks, and the truth is the mean over these."""
    one, other = observed("flooding"), observed("gossip")
    found = {}
    for what, values in (("flooding", one), ("gossip", other)):
        found |= {f"{what}, {name}": _of(values[name], BY_NAME[name].bounds) for name in METRICS}
    for name in METRICS:
        bounds = BY_NAME[name].difference_bounds
        found[f"gossip − flooding, {name}"] = _of(other[name] - one[name], bounds)
    return found


def laws(studies: int = STUDIES) -> dict[str, float]:
    """Of laws whose mean is known."""
    generator = np.random.default_rng(95)
    size = (studies, NETWORKS)
    return {
        "normal": covered(generator.normal(size=size), 0.0),
        "share of 200 at 0.95": covered(generator.binomial(200, 0.95, size) / 200.0, 0.95, SHARE),
        "log-normal, σ = 0.5": covered(
            generator.lognormal(0.0, 0.5, size), float(np.exp(0.125)), POSITIVE
        ),
        "exponential": covered(generator.exponential(size=size), 1.0, POSITIVE),
        "log-normal, σ = 1": covered(
            generator.lognormal(0.0, 1.0, size), float(np.exp(0.5)), POSITIVE
        ),
        "beta (8, 2)": covered(generator.beta(8.0, 2.0, size), 0.8, SHARE),
        "1 in seven of ten, else beta (8, 2)": covered(_mixed(generator, size), 0.94, SHARE),
    }


def _mixed(generator: np.random.Generator, size: tuple[int, int]) -> Floats:
    """Shares of which seven in ten are 1."""
    return np.where(generator.random(size) < 0.7, 1.0, generator.beta(8.0, 2.0, size))


def _of(values: Floats, bounds: tuple[float, float]) -> Coverage:
    """Coverage over studies that draw from the networks with a value.

    Disjoint studies of 20,000 networks would be 2,000. Their share has a standard error of 0.5 %,
    which is as large as the distance of a skewed metric from the limit of the test.
    """
    known = values[np.isfinite(values)]
    _, counts = np.unique(np.round(known, 9), return_counts=True)
    studies = np.random.default_rng(95).choice(known, (STUDIES, NETWORKS))
    share = covered(studies, float(known.mean()), bounds)
    return Coverage(share, 1.0 - float(counts.max() / counts.sum()))


def main() -> None:
    """Print the tables."""
    for law, share in laws().items():
        sys.stdout.write(f"| {law} | {100.0 * share:.1f} % |\n")
    for what, found in coverages().items():
        share = f"{100.0 * found.share:.1f} % | {100.0 * found.differing:.0f} %"
        sys.stdout.write(f"| {what} | {share} |\n")


if __name__ == "__main__":
    main()
