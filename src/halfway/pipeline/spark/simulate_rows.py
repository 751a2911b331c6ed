"""The simulation of plan rows in the workers of Spark: a plan row becomes a result row, also if its
run fails.

The result of a row depends on the row alone, so Spark may retry tasks, run them twice, and
repartition rows. Nothing here may depend on the worker, the task, the clock (except for timing), or
another row.
"""

import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from halfway.pipeline.plan.run import Observations, Run, measurement, one_line, unsigned
from halfway.pipeline.plan.sweep_plan import RUN
from halfway.pipeline.spark.shipping import use_unpacked_copy

OBSERVED = pa.list_(pa.struct([("metric", pa.string()), ("values", pa.list_(pa.float64()))]))
SCHEMA = pa.schema(
    [
        *RUN,
        ("status", pa.string()),  # "ok" or "error"
        ("error", pa.string()),  # one line, empty if ok
        # phase -> wall seconds, "total", and PROCESSOR
        ("seconds", pa.map_(pa.string(), pa.float64())),
        ("digest", pa.string()),  # of the observations
        ("observations", OBSERVED),  # the unit's id is the value's index
    ]
)
PROCESSOR = "processor"  # seconds that the run kept a processor busy; waiting does not count
_MOST_HELD = 1 << 22  # values (32 MB) that a worker holds before it yields them


def simulate(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Simulate the plan rows of a task in `mapInArrow`: plan rows (`plan.SCHEMA`) to result rows
    (`SCHEMA`).
    """
    use_unpacked_copy()
    # Restores the order by network, which the shuffle does not keep.
    rows = sorted(
        (row for batch in batches for row in batch.to_pylist()),
        key=lambda row: (row["network"], row["key"]),
    )
    results, held = [], 0
    for row in rows:
        results.append(result(row))
        held += sum(len(values) for values in results[-1]["observations"].values())
        if held > _MOST_HELD:
            yield rows_batch(results)
            results, held = [], 0
    if results:
        yield rows_batch(results)


def result(row: Mapping[str, Any]) -> dict[str, Any]:
    """Simulate a plan row into a result row. Any exception becomes a result row with status
    "error".
    """
    begun, busy = time.perf_counter(), time.process_time()
    run = Run(
        msgspec.json.decode(row["parameters"]),
        row["replicate"],
        unsigned(row["network_seed"]),
        unsigned(row["workload_seed"]),
        unsigned(row["random_seed"]),
    )
    try:
        observed = checked(measurement(row["measurement"])(run))
        status, error = "ok", ""
    except (Exception, SystemExit) as fault:  # a measurement must not end its worker
        observed, status, error = {}, "error", one_line(fault)
    run.seconds["total"] = time.perf_counter() - begun
    run.seconds[PROCESSOR] = time.process_time() - busy
    return {name: row[name] for name, _ in RUN} | {
        "status": status,
        "error": error,
        "seconds": list(run.seconds.items()),
        "digest": digest_of(observed),
        "observations": observed,
    }


def checked(observed: Observations) -> dict[str, npt.NDArray[np.float64]]:
    """Return the observations for a result row in the order of metrics, as little-endian doubles.

    Raises ValueError or TypeError for other values: not finite, not numbers, not one-dimensional.
    """
    if not isinstance(observed, Mapping):
        raise TypeError(f"a measurement returned {type(observed).__name__}, expected a mapping")
    values = {}
    for metric in sorted(observed):
        array = np.asarray(observed[metric])
        if array.dtype.kind not in "biuf" or array.ndim != 1:
            shape = f"{array.dtype} of {array.ndim} axes"
            raise TypeError(f"{metric} is {shape}, expected reals [units]")
        array = np.ascontiguousarray(array, "<f8")
        if not np.isfinite(array).all():
            unit = int(np.flatnonzero(~np.isfinite(array))[0])
            raise ValueError(f"{metric} of unit {unit} is {array[unit]}")
        values[metric] = array
    return values


def digest_of(observed: Mapping[str, npt.NDArray[np.float64]]) -> str:
    """Return the digest in a run's result row: over the metrics in order, each with its length and
    raw doubles.
    """
    digest = hashlib.sha256()
    for metric in sorted(observed):
        array = np.ascontiguousarray(observed[metric], "<f8")
        digest.update(f"{metric}\n{len(array)}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def rows_batch(results: Sequence[Mapping[str, Any]]) -> pa.RecordBatch:
    """Return result rows of simulated runs as a record batch of `SCHEMA`."""
    plain = [field for field in SCHEMA if field.name != "observations"]
    columns = [pa.array([row[field.name] for row in results], field.type) for field in plain]
    return pa.record_batch([*columns, _observed([row["observations"] for row in results])], SCHEMA)


def _observed(rows: list[dict[str, npt.NDArray[np.float64]]]) -> pa.ListArray:
    """Return the column of observations of the result rows. It is built from offsets, because a
    loop in Python would be slow.
    """
    metrics = [metric for row in rows for metric in row]
    arrays = [array for row in rows for array in row.values()]
    flat = np.concatenate(arrays) if arrays else np.zeros(0)
    values = pa.ListArray.from_arrays(_offsets([len(array) for array in arrays]), pa.array(flat))
    pairs = pa.StructArray.from_arrays(
        [pa.array(metrics, pa.string()), values], fields=list(OBSERVED.value_type)
    )
    return pa.ListArray.from_arrays(_offsets([len(row) for row in rows]), pairs, type=OBSERVED)


def _offsets(lengths: list[int]) -> pa.Array:
    return pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
