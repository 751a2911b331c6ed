"""Measurements for tests of the pipeline: cheap, importable by workers; some fail."""

import os
import time
from pathlib import Path

import numpy as np

from halfway.core.compiled import kernel
from halfway.pipeline.plan.run import Observations, Point, Run


@kernel
def spun(word, count):  # type: ignore[no-untyped-def]
    """Enough arithmetic to be a kernel."""
    for _ in range(count):
        word = word * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return word


def steps(run: Run) -> Observations:
    """Seeded observations; `ms` of waiting; a line in the file `diary` for each time it is run.

    When two batches of the folder `batches` are finished, a run waits until the file `gate` exists.
    """
    if "diary" in run.parameters:
        with Path(run["diary"]).open("a") as diary:
            diary.write(f"{run.parameters['n']} {run.parameters['system']} {run.replicate}\n")
    with run.timed("run"):
        time.sleep(run.parameters.get("ms", 0) / 1000)
        while "gate" in run.parameters and _is_closed(Path(run["gate"]), Path(run["batches"])):
            time.sleep(0.01)
        word = spun(np.uint64(run.random_seed), 100)
    network = np.random.default_rng(run.network_seed)
    random = np.random.default_rng([run.random_seed, int(word) & 0xFFFF])
    level = 10.0 * network.random() + (5.0 if run["system"] == "slow" else 0.0)
    return {
        "steps": np.round(run["n"] / 10 + level + random.exponential(3.0, 40)),
        "pairs": network.random(3),
    }


def _is_closed(gate: Path, batches: Path) -> bool:
    return not gate.exists() and len(list(batches.glob("*/_SUCCESS"))) >= 2


def faulty(run: Run) -> Observations:
    """Fail in the way of `fault`, on even replicates."""
    if run.replicate % 2:
        return {"steps": np.ones(3)}
    return {
        "raises": lambda: 1 / 0,
        "exits": lambda: os.sys.exit(3),  # type: ignore[attr-defined]
        "nan": lambda: {"steps": np.array([1.0, np.nan])},
        "words": lambda: {"steps": np.array(["many"])},
        "table": lambda: {"steps": np.ones((2, 2))},
        "nothing": lambda: None,
    }[run["fault"]]()  # type: ignore[no-any-return, operator]


def points(measurement: str = "steps", **parameters: str | float) -> list[Point]:
    """Two sizes of two systems."""
    return [
        Point(
            f"tests.pipeline.toys:{measurement}",
            {"n": n, "system": system, **parameters},
            ("n",),
            cost_ms=float(parameters.get("ms", 1)) + 1.0,
        )
        for n in (100, 200)
        for system in ("quick", "slow")
    ]


def bulky(run: Run) -> Observations:
    """Observations that no compression makes smaller: 80 kB a run."""
    return {"noise": np.random.default_rng(run.random_seed).random(10_000)}


def fragile(run: Run) -> Observations:
    """Fail while the file `cause` exists."""
    if Path(run["cause"]).exists():
        raise RuntimeError("the cause exists")
    return steps(run)


def lethal(_run: Run) -> Observations:
    """End the process, as a fault in compiled code does."""
    os.abort()
