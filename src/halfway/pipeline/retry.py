"""The repetition of failed runs from their stored rows, without the command that first made
them.
"""

import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from halfway.pipeline.plan.inputs import check_inputs
from halfway.pipeline.plan.provenance import code_digest
from halfway.pipeline.plan.run import unsigned
from halfway.pipeline.plan.sweep_plan import SCHEMA, key_of
from halfway.pipeline.spark.on_demand import OnDemand
from halfway.pipeline.store.store import Store
from halfway.pipeline.sweep import Progress, SweepReport, sweep
from halfway.problem import Problem

_STORED = [name for name in SCHEMA.names if name not in ("network", "cost_ms")]


def why_not(row: Mapping[str, Any], codes: Mapping[str, str]) -> str:
    """Return the reason why the retry of a failed run is impossible under its key with these
    `codes_here`, or "".

    A key identifies the code that ran, so a run of other code must not be stored under it.
    """
    code = codes[row["measurement"]]
    if not code:
        return f"{row['measurement'].partition(':')[0]} cannot be imported"
    run = (row["replicate"], row["network_seed"], row["workload_seed"], row["random_seed"])
    if key_of(row["measurement"], row["parameters"], run, code) != row["key"]:
        return f"other code made the run (halfway {row['version']})"
    try:
        check_inputs(msgspec.json.decode(row["parameters"]))
    except Problem as problem:
        return str(problem)
    return ""


def failed_runs(store: Store) -> pa.Table:
    """Return the failed runs of a result folder that a retry can repeat, as a plan."""
    table = store.rows("status", *_STORED, "seconds")
    failed = [row for row in table.to_pylist() if row["status"] != "ok"]
    codes = codes_here(row["measurement"] for row in failed)
    rows = []
    for row in failed:
        if not why_not(row, codes):
            row["network"] = f"{unsigned(row['network_seed']):016x}"
            row["cost_ms"] = max(1.0, 1000.0 * dict(row["seconds"]).get("total", 0.0))
            rows.append({name: row[name] for name in SCHEMA.names})
    return pa.Table.from_pylist(rows, SCHEMA)


def retry_failed(
    folder: Path, master: str | None = None, progress: Progress | None = None
) -> SweepReport | None:
    """Retry the failed runs of a result folder; return None, without Spark, if no run failed.

    Raises Problem as `sweep` does.
    """
    store = Store(folder)
    plan = failed_runs(store)
    if not plan.num_rows:
        return None
    with OnDemand(master) as spark:
        return sweep(spark, store, plan, progress, retry_errors=True)


def codes_here(measurements: Iterable[str]) -> dict[str, str]:
    """Return measurement -> digest of its present code, for the failed runs of a retry. The digest
    is "" for a measurement that cannot be imported.
    """
    return {measurement: _code(measurement) for measurement in set(measurements)}


def _code(measurement: str) -> str:
    try:
        found = importlib.util.find_spec(measurement.partition(":")[0])
    except (ImportError, ValueError):
        return ""
    return code_digest(measurement) if found else ""
