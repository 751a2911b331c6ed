"""A traced run played again: the same records to the same nodes, the same memory in the end."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from halfway.core.borrowed import borrowed
from halfway.core.compiled import kernel
from halfway.core.handler import handle
from halfway.core.message import MESSAGE
from halfway.core.outbox import outbox
from halfway.problem import Problem
from halfway.sim.engine.changes import FORGOTTEN, KNOWN
from halfway.sim.engine.neighbour_lists import exclude, include, is_full
from halfway.sim.metrics.summary import state_digest
from halfway.sim.trace.writer import PLAIN

if TYPE_CHECKING:
    from halfway.sim.simulation import Simulation


def replay(path: Path, run: "Simulation") -> bool:
    """Play a trace on a simulation that was built as the traced one was and has not run.

    Every record that a node heard goes to its handler again, in order, and what nodes know of each
    other changes as it did; what handlers emit is not sent. True if all nodes end with the memory
    that the trace says. Raises Problem for a file that is no trace, or one of another run.
    """
    from pyarrow import ArrowInvalid, parquet

    try:
        file = parquet.ParquetFile(path)
        about = json.loads(file.metadata.metadata[b"halfway"])
    except (ArrowInvalid, KeyError, TypeError):
        raise Problem("this is no trace of a run", where=str(path)) from None
    mine = {
        "system": run.system,
        "seed": run.seed,
        "nodes": run.environment.n,
        "seconds": run.seconds,
    }
    for name, value in mine.items():
        if about[name] != value:
            what = f"the trace was made with {name} = {about[name]}, not {value}"
            raise Problem(what, where=str(path))
    environment, instance, out = (
        run.environment,
        run.instance,
        outbox(max(run.instance.most_emissions, 1)),
    )
    window = environment.advance(environment.window_end(run.seconds))
    for batch in file.iter_batches(columns=["what", "row", *PLAIN, "args", "reals"]):
        records, rows = _heard(batch)
        k = 0
        while True:
            last = environment.at >= run.seconds
            ready = len(records) if last else int(np.searchsorted(records["at"], environment.at))
            k = int(
                _play(
                    instance.state, instance.rules, environment.neighbourhood, window, out,
                    records.view(np.recarray), rows, k, ready, environment.at if k < ready else np.inf,
                )
            )  # fmt: skip
            if k < ready:
                environment.make_room()
            elif k == len(records):
                break
            else:
                window = environment.advance(environment.window_end(run.seconds))
    return bool(about["state"] == state_digest(instance.state))


def _heard(batch: Any) -> tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]:
    """Records of MESSAGE and the rows that heard them."""
    words = batch["what"].dictionary.to_pylist()
    which = np.flatnonzero(batch["what"].indices.to_numpy() == words.index("heard"))
    records = np.zeros(len(which), MESSAGE)
    for name in PLAIN:
        records[name] = batch[name].to_numpy()[which]
    for name, width in (("args", 8), ("reals", 6)):
        records[name] = batch[name].flatten().to_numpy().reshape(-1, width)[which]
    return records, batch["row"].to_numpy()[which].astype(np.int64)


@kernel
def _play(state, rules, neighbourhood, window, out, records, rows, k, ready, end):
    """Records k up to `ready`, and what comes to be known before each; where it stopped."""
    state, rules, neighbourhood = borrowed(state), borrowed(rules), borrowed(neighbourhood)
    slots = out.free.shape[0]
    while True:
        now = records[k].at if k < ready else end
        c = window.tally[0]
        if c < window.t.shape[0] and window.t[c] <= now:
            a, b = window.a[c], window.b[c]
            if window.kind[c] == KNOWN:
                if is_full(neighbourhood, a) or is_full(neighbourhood, b):
                    return k
                include(neighbourhood, a, b)
                include(neighbourhood, b, a)
            elif window.kind[c] == FORGOTTEN:
                exclude(neighbourhood, a, b)
                exclude(neighbourhood, b, a)
            window.tally[0] += 1
        elif k < ready:
            handle(state, rules, neighbourhood, rows[k], records[k], out)
            out.tally[0] = slots
            k += 1
        else:
            return k
