"""How often the 95 % intervals of a comparison hold the truth: studies of real runs, and of laws.

`python -m tests.comparison.studies` prints the table of docs/comparing.md.
"""

import sys
import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from halfway.comparison.metrics import METRICS
from halfway.comparison.points import Contender, point_of
from halfway.pipeline.measure import mean_interval
from halfway.pipeline.plan import plan
from halfway.pipeline.simulate import result
from halfway.scenario.reading import read_scenario

Floats = npt.NDArray[np.float64]
STUDIES, NETWORKS = 2_000, 10
TOLD = ("delivery-ratio", "latency-median", "latency-p95", "messages", "energy", "load-max",
        "load-gini")  # fmt: skip
# Small, lossy and short, so that 40,000 runs take minutes.
SCENARIO = """
seconds = 8
hello_s = 0.0
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


def covered(values: Floats, truth: float) -> float:
    """Share of the studies [studies, networks] whose interval holds the truth."""
    intervals = [mean_interval(study)[1:] for study in values]
    return float(np.mean([low <= truth <= high for low, high in intervals]))


def observed(system: str) -> dict[str, Floats]:
    """Metric -> [STUDIES x NETWORKS] values of a system, a network each."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "scenario.toml"
        file.write_text(SCENARIO, "utf-8")
        point = point_of(read_scenario(file), Contender(system))
    found: dict[str, list[float]] = {name: [] for name in TOLD}
    for row in plan([point], STUDIES * NETWORKS).to_pylist():
        values = result(row)["observations"]
        for name, own in found.items():
            own.append(float(values[name][0]) if len(values[name]) else np.nan)
    return {name: np.array(own) for name, own in found.items()}


def coverages() -> dict[str, float]:
    """What is estimated -> share of 2,000 studies of 10 networks whose interval holds the truth.

    The truth is the mean over all 20,000 networks, whose own error is a 45th of a study's.
    """
    one, other = observed("flooding"), observed("gossip")
    found = {}
    for what, values in (("flooding", one), ("gossip", other)):
        for name in TOLD:
            found[f"{what} {name}"] = _share(values[name])
    for name in TOLD:
        found[f"gossip - flooding {name}"] = _share(other[name] - one[name])
    dice = np.random.default_rng(95)
    size = (STUDIES, NETWORKS)
    found["normal"] = covered(dice.normal(size=size), 0.0)
    found["exponential"] = covered(dice.exponential(size=size), 1.0)
    found["log-normal, σ = 0.5"] = covered(dice.lognormal(0.0, 0.5, size), float(np.exp(0.125)))
    found["share of 200 at 0.95"] = covered(dice.binomial(200, 0.95, size) / 200.0, 0.95)
    return found


def _share(values: Floats) -> float:
    """Coverage over studies in which every network has a value."""
    studies = values.reshape(STUDIES, NETWORKS)
    whole = np.isfinite(studies).all(axis=1)
    return covered(studies[whole], float(np.nanmean(values)))


def main() -> None:
    """Print the table."""
    known = {metric.name for metric in METRICS}
    assert set(TOLD) <= known
    for what, share in coverages().items():
        sys.stdout.write(f"| {what} | {100.0 * share:.1f} % |\n")


if __name__ == "__main__":
    main()
