"""The settings that few runs change: the hardware and ids of nodes, and what a run records and
checks.

Decision 0076 has the reason (docs/decisions/0076-rare-settings-of-a-run-are-groups.md).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy.typing as npt

from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.radio.energy import Power
from halfway.sim.trace.sink import TraceSink


@dataclass(frozen=True, kw_only=True)
class NodeSettings:
    """The settings of a run's nodes: ids, power, batteries and clocks.

    ids: [n] any distinct ids, 31 bits; None: their rows. power: the electric power that a node
    draws. batteries: joules, one number for all nodes or [n]; a node with an empty battery goes
    down for good; None: batteries are never empty. clock: offsets and drifts of the nodes' clocks;
    None: every node reads the time of the run.
    """

    ids: npt.ArrayLike | None = None
    power: Power | None = None
    batteries: npt.ArrayLike | None = None
    clock: ClockErrors | None = None


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """The inspection of a run: the records and checks that the run adds to its outcome.

    trace: a Parquet file for the trace, or an object that receives the records. received_records:
    number of these records to keep for `Simulation.received_records`; 0: keep only records for
    `Simulation.reports`. check: whether the door checks each record before its handler, where
    refused records are among the shortfalls of the outcome; None: the environment variable
    HALFWAY_CHECK_RECORDS decides.
    """

    trace: Path | TraceSink | None = None
    received_records: int | None = None
    check: bool | None = None
