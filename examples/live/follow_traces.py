"""Follow a growing folder of live traces with Structured Streaming: delivery, latency and drops.

    halfway node --trace traces
    python examples/live/follow_traces.py traces

Prints, for windows of some seconds and each node: notifications, their latency, and drops.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from halfway.cli.program import Parser, positive, run
from halfway.problem import Problem

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

LATE = "30 seconds"  # a notification that comes later than this is not counted


def main() -> None:
    """Follow the folder of live traces until Ctrl-C, or until all of it was read."""
    parser = Parser(description=__doc__)
    parser.add_argument("folder", type=Path, help="folder of live traces")
    parser.add_argument("--window", type=positive, default=5.0, help="seconds of a window")
    parser.add_argument("--once", action="store_true", help="read what is there, and end")
    given = parser.parse_args()
    if not any(given.folder.glob("[!.]*.parquet")):
        raise Problem("no trace yet", where=str(given.folder), remedy="wait for the first file")
    from halfway.pipeline.spark.session import session

    with session() as spark:
        query = windows(spark, given.folder, given.window).writeStream.foreachBatch(show)
        if given.once:
            query = query.trigger(availableNow=True)
        query.start().awaitTermination()


def windows(spark: "SparkSession", folder: Path, seconds: float) -> "DataFrame":
    """Return the stream of windows: node, notifications, latency p50 and p95 [s], drops."""
    from pyspark.sql import functions as f

    columns = spark.read.parquet(str(folder)).schema
    rows = spark.readStream.schema(columns).parquet(str(folder)).withWatermark("wall", LATE)
    key = ["publisher", "epoch", "event"]
    published = rows.where("what = 'received' and name = 'publish'").select(
        *(f.col(name).alias(f"p_{name}") for name in key), f.col("wall").alias("published")
    )
    delivered = rows.where("what = 'reported' and name = 'delivered'")
    same = [f.col(name) == f.col(f"p_{name}") for name in key]
    soon = f.col("wall").between(
        f.col("published"), f.col("published") + f.expr(f"interval {LATE}")
    )
    latency = f.col("wall").cast("double") - f.col("published").cast("double")
    notifications = delivered.join(published, [*same, soon]).select(
        "wall", "node", latency.alias("latency"), f.lit(0).alias("drops")
    )
    drops = rows.where("what = 'dropped'").select(
        "wall", "node", f.lit(None).cast("double").alias("latency"), f.col("args")[0].alias("drops")
    )
    return (
        notifications.union(drops)
        .groupBy(f.window("wall", f"{seconds} seconds"), "node")
        .agg(
            f.count("latency").alias("notifications"),
            f.expr("percentile_approx(latency, 0.5)").alias("p50_s"),
            f.expr("percentile_approx(latency, 0.95)").alias("p95_s"),
            f.sum("drops").alias("drops"),
        )
    )


def show(batch: "DataFrame", _number: int) -> None:
    """Print the windows of live traces that are complete."""
    for row in batch.orderBy("window", "node").collect():
        begin = row["window"]["start"].strftime("%H:%M:%S")
        sys.stdout.write(
            f"{begin}  {row['node']:12} {row['notifications']:6} notifications"
            f"  p50 {_ms(row['p50_s'])}  p95 {_ms(row['p95_s'])}  {row['drops']:5} dropped\n"
        )
    sys.stdout.flush()


def _ms(seconds: float | None) -> str:
    return "      –" if seconds is None else f"{1000 * seconds:6.1f} ms"


if __name__ == "__main__":
    sys.exit(run(main))
