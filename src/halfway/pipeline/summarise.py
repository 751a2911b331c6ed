"""Summaries of runs with Spark: DataFrame -> DataFrame, one row per point and metric."""

import json
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
from pyspark.sql.pandas.types import from_arrow_schema

from halfway.pipeline.measure import estimate
from halfway.pipeline.study import Summary

Named = tuple[str, str, int]  # measurement, canonical parameters, replicates

_NAMED = ["measurement", "parameters", "replicates", "metric"]
_REALS = [name for name, kind in Summary.__annotations__.items() if kind is float]
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("measurement", "parameters", "metric")]
    + [(name, pa.int32()) for name in ("replicates", "networks", "units")]
    + [(name, pa.float64()) for name in _REALS]
    + [(name, pa.list_(pa.float64())) for name in ("boot_mean", "boot_median")]
)
SPARK_SCHEMA = from_arrow_schema(_SCHEMA)


def summarised(runs: DataFrame) -> DataFrame:
    """Summarise runs with a column `replicates` (the planned number) as `SPARK_SCHEMA`.

    Grouped by point, number of replicates and metric. The shuffle moves one row per run and metric,
    not one per value. Excludes runs in error.
    """
    run = ("measurement", "parameters", "replicates", "replicate")
    narrow = runs.where("status = 'ok'").select(*run, F.explode("observations").alias("o"))
    cells = narrow.select(*run, "o.metric", "o.values")
    return cells.groupBy(*_NAMED).applyInArrow(_summary, SPARK_SCHEMA)


def summaries(runs: DataFrame) -> dict[Named, list[Summary]]:
    """Summarise runs with a column `replicates` by Spark: one per metric, metrics in order."""
    found: dict[Named, list[Summary]] = {}
    for row in summarised(runs).toArrow().to_pylist():
        fields: dict[str, Any] = {name: row[name] for name in Summary.__struct_fields__}
        fields["parameters"] = json.loads(row["parameters"])
        fields["boot_mean"] = tuple(row["boot_mean"])
        fields["boot_median"] = tuple(row["boot_median"])
        name = (row["measurement"], row["parameters"], row["replicates"])
        found.setdefault(name, []).append(Summary(**fields))
    return {name: sorted(rows, key=lambda row: row.metric) for name, rows in found.items()}


def _summary(group: pa.Table) -> pa.Table:
    lists = group["values"].combine_chunks()
    lengths = np.asarray(lists.value_lengths()).astype(np.int64)
    network = np.repeat(group["replicate"].to_numpy(), lengths)
    first = {name: group[name][0].as_py() for name in _NAMED}
    values = np.asarray(lists.flatten())
    if not len(values):  # no observations on any network
        return _SCHEMA.empty_table()
    row = first | estimate(values, network, first["replicates"])
    return pa.Table.from_pylist([row], _SCHEMA)
