"""The summaries of runs, one row per point and metric: by Spark, or in this process if there are
few values.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from halfway.pipeline.statistics.estimates import estimate
from halfway.pipeline.statistics.summary import Summary
from halfway.pipeline.store.store import Store, altered, damaged_runs

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

Named = tuple[str, str, int]  # measurement, canonical parameters, replicates
Wanted = Mapping[int, Sequence[str]]  # number of replicates -> keys of runs

_NAMED = ["measurement", "parameters", "replicates", "metric"]
_REALS = [name for name, kind in Summary.__annotations__.items() if kind is float]
_SCHEMA = pa.schema(
    [(name, pa.string()) for name in ("measurement", "parameters", "metric")]
    + [(name, pa.int32()) for name in ("replicates", "networks", "units")]
    + [(name, pa.float64()) for name in _REALS]
    + [(name, pa.list_(pa.float64())) for name in ("boot_mean", "boot_median")]
)
_CHOSEN = pa.schema([("key", pa.string()), ("replicates", pa.int32())])  # a count may have no key
_MOST_BYTES = 256 << 20  # of a folder's files, uncompressed, for one process


def is_small(store: Store) -> bool:
    """Return whether this process can summarise the runs of a folder as fast as Spark starts."""
    files = map(pq.read_metadata, store.files())
    size = sum(
        int(meta.row_group(i).total_byte_size) for meta in files for i in range(meta.num_row_groups)
    )
    return size <= _MOST_BYTES


def summaries_here(store: Store, wanted: Wanted) -> dict[Named, list[Summary]]:
    """Summarise the wanted runs of a folder in this process: one per metric, metrics in order."""
    columns = ("key", "measurement", "parameters", "replicate", "observations")
    rows = store.rows(*columns, "status").to_pylist()
    groups: dict[tuple[str, str, int, str], list[tuple[int, list[float]]]] = {}
    for count, keys in wanted.items():
        chosen = set(keys)
        for row in rows:
            if row["key"] in chosen and row["status"] == "ok":
                for observation in row["observations"]:
                    name = (row["measurement"], row["parameters"], count, observation["metric"])
                    groups.setdefault(name, []).append((row["replicate"], observation["values"]))
    made = []
    for (measurement, parameters, count, metric), parts in sorted(groups.items()):
        lengths = [len(values) for _, values in parts]
        if sum(lengths):
            network = np.repeat([replicate for replicate, _ in parts], lengths)
            values = np.concatenate([np.asarray(values, np.float64) for _, values in parts])
            first = dict(zip(_NAMED, (measurement, parameters, count, metric), strict=True))
            made.append(_summarised(values, network, first))
    return _by_name(made)


def summaries(spark: "SparkSession", store: Store, wanted: Wanted) -> dict[Named, list[Summary]]:
    """Summarise the wanted runs of a folder by Spark: one per metric, metrics in order."""
    from pyspark.sql.functions import broadcast

    from halfway.pipeline.spark.batch import named_jobs  # imports Spark

    each = [{"key": key, "replicates": count} for count, keys in wanted.items() for key in keys]
    chosen = broadcast(spark.createDataFrame(pa.Table.from_pylist(each, _CHOSEN)))
    runs = frame_of_runs(spark, store).join(chosen, "key")
    with named_jobs(spark, "summaries"):
        return _by_name(summarised(runs).toArrow().to_pylist())


def frame_of_runs(spark: "SparkSession", store: Store) -> "DataFrame":
    """Return the runs to summarise as a Spark frame (`simulate.SCHEMA`): every run in a result
    folder, one row per key.
    """
    from pyspark.sql import Window
    from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know

    from halfway.pipeline.spark.batch import SPARK_SCHEMA  # imports Spark

    files = store.files()
    if not files:
        return spark.createDataFrame([], SPARK_SCHEMA)
    runs = spark.read.schema(SPARK_SCHEMA).parquet(*map(str, files))
    if sum(pq.read_metadata(file).num_rows for file in files) == len(store.finished_keys()):
        return runs
    order = Window.partitionBy("key").orderBy(F.col("status") != "ok", "file")
    numbered = runs.withColumn("file", F.input_file_name())
    numbered = numbered.withColumn("n", F.row_number().over(order))
    return numbered.where("n = 1").drop("n", "file")


def summarised(runs: "DataFrame") -> "DataFrame":
    """Summarise runs with a column `replicates` (the planned number), by Spark.

    Grouped by point, number of replicates and metric. The shuffle moves one row per run and metric,
    not one per value. Excludes runs in error. The query raises an error
    if a run does not match its digest.
    """
    from pyspark.sql import functions as F  # noqa: N812 - the name that Spark's users know
    from pyspark.sql.pandas.types import from_arrow_schema

    run = ("measurement", "parameters", "replicates", "replicate")
    own = runs.where("status = 'ok'").select(*run, "key", "digest", "observations")
    narrow = own.mapInArrow(_unaltered, own.schema).select(
        *run, F.explode("observations").alias("o")
    )
    cells = narrow.select(*run, "o.metric", "o.values")
    return cells.groupBy(*_NAMED).applyInArrow(_summary, from_arrow_schema(_SCHEMA))


def _unaltered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        if keys := altered(batch):
            raise damaged_runs("runs", keys)
        yield batch


def _by_name(rows: Iterable[Mapping[str, Any]]) -> dict[Named, list[Summary]]:
    summaries: dict[Named, list[Summary]] = {}
    for row in rows:
        fields: dict[str, Any] = {name: row[name] for name in Summary.__struct_fields__}
        fields["parameters"] = json.loads(row["parameters"])
        fields["boot_mean"] = tuple(row["boot_mean"])
        fields["boot_median"] = tuple(row["boot_median"])
        name = (row["measurement"], row["parameters"], row["replicates"])
        summaries.setdefault(name, []).append(Summary(**fields))
    return {name: sorted(rows, key=lambda row: row.metric) for name, rows in summaries.items()}


def _summary(group: pa.Table) -> pa.Table:
    lists = group["values"].combine_chunks()
    lengths = np.asarray(lists.value_lengths()).astype(np.int64)
    network = np.repeat(group["replicate"].to_numpy(), lengths)
    first = {name: group[name][0].as_py() for name in _NAMED}
    values = np.asarray(lists.flatten())
    if not len(values):  # no observations on any network
        return _SCHEMA.empty_table()
    return pa.Table.from_pylist([_summarised(values, network, first)], _SCHEMA)


def _summarised(values: Any, network: Any, first: Mapping[str, Any]) -> dict[str, Any]:
    """Return the summary of a metric's values; the order of the runs does not matter."""
    order = np.argsort(network, kind="stable")
    return {**first, **estimate(values[order], network[order], first["replicates"])}
