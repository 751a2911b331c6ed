"""The rerun of a trace: the same records, sent to the same nodes, must give the same final
state.
"""

import json
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from pyarrow import parquet

from halfway.adapters.interface import SystemInstance
from halfway.core.compiled import kernel
from halfway.core.compiler.lent import lent
from halfway.core.door import Door, enter
from halfway.core.message import RECORD
from halfway.core.neighbourhood import Neighbourhood, exclude, include, is_full
from halfway.core.outbox import outbox
from halfway.core.records.trace_columns import PLAIN
from halfway.core.values.digest import state_digest
from halfway.problem import Problem
from halfway.sim.engine.changes import FORGOTTEN, KNOWN
from halfway.sim.engine.clocks import Clocks, own_time
from halfway.sim.environment.environment import Environment
from halfway.sim.metrics.outcome import RunId


class KnownNeighbours(Protocol):
    """The neighbourhoods that nodes know in a rerun, given or learnt from hellos."""

    @property
    def neighbourhood(self) -> Neighbourhood:
        """The known neighbourhoods of all rows in a rerun."""

    def node(self, instance: SystemInstance, out: Any) -> tuple[Any, Any]:
        """Return state and rules of a rerun's nodes, from an instance that emits into `out`."""

    def begin_window(self) -> None:
        """Take the knowledge of a rerun's nodes about their neighbours from the environment's next
        window.
        """


def rerun(
    path: Path,
    run: RunId,
    environment: Environment,
    instance: SystemInstance,
    clocks: Clocks,
    neighbours: KnownNeighbours,
) -> bool:
    """Rerun a trace on the parts of a new simulation with the same configuration.

    Every received record goes to its node's handler again, in order, and neighbour lists change as
    they did. The records that handlers emit are dropped. The result is True if the final state of
    all nodes equals the final state in the trace. Raises Problem for the trace of another run.
    """
    file, state = opened(path, run)
    out = outbox(max(instance.most_emissions, 1))
    node_id = environment.ids.of
    window = environment.advance(environment.window_end(run.seconds))
    for batch in file.iter_batches(columns=["what", "row", *PLAIN, "args", "reals"]):
        records, rows = received_records(batch)
        k = 0
        while True:
            last = environment.at >= run.seconds
            ready = len(records) if last else int(np.searchsorted(records["at"], environment.at))
            end = environment.at if k < ready else np.inf
            neighbourhood = neighbours.neighbourhood
            k = _play(
                Door(*neighbours.node(instance, out), neighbourhood, out), lent(neighbourhood),
                lent(window), lent(out), lent(clocks), node_id, records.view(np.recarray), rows, k,
                ready, end,
            )  # fmt: skip
            if k < ready:
                environment.make_room()
            elif k == len(records):
                break
            else:
                window = environment.advance(environment.window_end(run.seconds))
                neighbours.begin_window()
    return state == state_digest(instance.state)


def opened(path: Path, run: RunId) -> tuple[Any, str]:
    """Open a trace file; return the Parquet file, and the digest of the final state in its
    metadata.

    Raises Problem for the trace of another run.
    """
    file = parquet.ParquetFile(path)
    about = json.loads(file.metadata.metadata[b"halfway"])
    for name, value in run._asdict().items():
        if about[name] != value:
            what = f"the trace was made with {name} = {about[name]}, not {value}"
            raise Problem(what, where=str(path))
    return file, str(about["state"])


def received_records(batch: Any) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
    """Read the received records in a batch of a trace file; return them and their rows."""
    words = batch["what"].dictionary.to_pylist()
    which = np.flatnonzero(batch["what"].indices.to_numpy() == words.index("received"))
    records = np.zeros(len(which), RECORD)
    for name in PLAIN:
        records[name] = batch[name].to_numpy()[which]
    for name, width in (("args", 8), ("reals", 6)):
        records[name] = batch[name].flatten().to_numpy().reshape(-1, width)[which]
    return records, batch["row"].to_numpy()[which].astype(np.int64)


@kernel
def _play(door, neighbourhood, window, out, clocks, node_id, records, rows, k, ready, end):
    """Rerun the records of a trace from record k up to time `ready`, each after the changes before
    it; return the next record.
    """
    slots = out.free.shape[0]
    while True:
        now = records[k].at if k < ready else end
        c = window.tally[0]
        if c < window.t.shape[0] and window.t[c] <= now:
            a, b = window.a[c], window.b[c]
            if window.kind[c] == KNOWN:
                if is_full(neighbourhood, a) or is_full(neighbourhood, b):
                    return k
                include(neighbourhood, a, node_id[b], b)
                include(neighbourhood, b, node_id[a], a)
            elif window.kind[c] == FORGOTTEN:
                exclude(neighbourhood, a, node_id[b])
                exclude(neighbourhood, b, node_id[a])
            window.tally[0] += 1
        elif k < ready:
            records[k].at = own_time(clocks, rows[k], now)
            enter(door, np.uint32(rows[k]), records[k])
            out.tally[0] = slots
            k += 1
        else:
            return k
