"""The unit of a sweep: one point, one replicate, its seeds, and the observations it makes."""

import importlib
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt

Scalar = str | int | float | bool
# metric -> [units] one value a unit (a pair, a node); the unit's id is its index
Observations = Mapping[str, npt.NDArray[np.float64]]
Measurement = Callable[["Run"], Observations]


class Point(msgspec.Struct, frozen=True):
    """One set of parameters of one measurement, before it is replicated.

    measurement: "package.module:function", importable on every worker; Run -> Observations.
    parameters: everything that determines the result except the seeds, `system` included.
    network: names of the parameters that determine the network; replicates of points that agree on
        them meet the same networks, so that differences between the others are paired.
    cost_ms: rough cost of one replicate; shapes tasks, never results.
    """

    measurement: str
    parameters: dict[str, Scalar]
    network: tuple[str, ...]
    cost_ms: float = 10.0


Phase = Literal["network", "run"]  # drawing what is simulated, and simulating it


class Run(msgspec.Struct):
    """One replicate of a point as a worker meets it. Same seeds, same observations, anywhere."""

    parameters: dict[str, Scalar]
    replicate: int
    network_seed: int  # [0, 2^64) the network and all that is paired with it
    workload_seed: int  # who publishes, who subscribes: shared by systems on the same network
    dice_seed: int  # the protocol's own randomness: different for each point
    seconds: dict[str, float] = {}  # phase -> wall seconds

    @contextmanager
    def timed(self, phase: Phase) -> Iterator[None]:
        """Add the wall time of the block to a phase of this run."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[phase] = self.seconds.get(phase, 0.0) + time.perf_counter() - begun

    def __getitem__(self, name: str) -> Any:
        return self.parameters[name]


def unsigned(word: int) -> int:
    """A seed of [0, 2^64) that a column of 64 signed bits keeps."""
    return word & ((1 << 64) - 1)


def measurement(path: str) -> Measurement:
    """The function that a point names as "package.module:function"."""
    module, _, function = path.partition(":")
    return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]
