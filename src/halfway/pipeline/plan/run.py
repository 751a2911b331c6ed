"""The run of a sweep: one replicate of a point, with its seeds, the times of its phases, and its
observations.
"""

import importlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

Scalar = str | int | float | bool
# metric -> [units] one value per unit (a pair, a node); the unit's id is its index. The values of a
# metric over time begin and end at the times in the observations metric + STARTS and metric + ENDS.
STARTS, ENDS = ":t0_s", ":t1_s"
Observations = Mapping[str, npt.NDArray[np.float64]]
Measurement = Callable[["Run"], Observations]


class Point(msgspec.Struct, frozen=True):
    """A point of a sweep: one set of parameters of one measurement, before it is replicated.

    measurement: "package.module:function", importable on every worker; Run -> Observations.
    parameters: everything that determines the result except the seeds, with the system's name.
    network: names of the parameters that determine the network; replicates of points with equal
        values of these have the same networks, so that differences between the points are paired.
    cost_ms: rough cost of one replicate. It sizes tasks, and does not affect results.
    """

    measurement: str
    parameters: dict[str, Scalar]
    network: tuple[str, ...]
    cost_ms: float = 10.0


Phase = Literal["network", "run"]  # generating the network, and simulating


class Run(msgspec.Struct):
    """A run: one replicate of a point. Its seeds give the same observations on any machine."""

    parameters: dict[str, Scalar]
    replicate: int
    network_seed: int  # [0, 2^64) of the network and all that is paired with it
    workload_seed: int  # of publishers and subscribers: shared by systems on the same network
    random_seed: int  # of the protocol's random numbers: different for each point
    seconds: dict[str, float] = {}  # phase -> wall seconds

    @contextmanager
    def timed(self, phase: Phase) -> Iterator[None]:
        """Add the wall time of the block to the time of a phase of this run."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - begun

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]


def one_line(fault: BaseException) -> str:
    """Return the exception with which a run of a sweep failed: type and message in one line of at
    most 500 characters.
    """
    text = " ".join(f"{type(fault).__name__}: {fault}".split())
    return text if len(text) <= 500 else f"{text[:499]}…"


def unsigned(word: int) -> int:
    """Return the seed of a run of a sweep in [0, 2^64), from a column of signed 64-bit integers."""
    return word & ((1 << 64) - 1)


def scenario_seed(network_seed: int) -> int:
    """Return the seed that a run's scenario gets from the network seed of the run; the option
    `--seed` of `halfway simulate` takes this seed.
    """
    return unsigned(network_seed) >> 1  # integers of TOML have 63 bits


def measurement(path: str) -> Measurement:
    """Return the measurement function of a run, which the run's point names as
    "package.module:function".
    """
    module, _, function = path.partition(":")
    found: Measurement = getattr(importlib.import_module(module), function)
    return found
