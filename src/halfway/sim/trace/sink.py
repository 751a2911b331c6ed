"""The interface of a trace (`TraceSink`): what a run log gives its records to."""

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from halfway.sim.engine.changes import Changes
from halfway.sim.metrics.outcome import RunId


class TraceSink(Protocol):
    """A trace of one run: a file (`Trace`), or an object of a program."""

    def write(
        self,
        received: npt.NDArray[np.void],
        receivers: npt.NDArray[np.int64],
        reported: npt.NDArray[np.void],
        owners: npt.NDArray[np.int64],
        changes: Changes,
    ) -> None:
        """Take, in the interface of a trace, the records since the last call, and the run's changes
        so far.

        The engine overwrites `received` and `receivers` after the call.
        """

    def close(self, run: RunId, state: Any) -> None:
        """Complete a trace of any kind at the end of the run."""

    def abandon(self) -> None:
        """Give up a trace of any kind, because the run was interrupted."""
