"""Traces as rows of the Spark data source: of simulated runs, and of live nodes in a folder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql.datasource import DataSourceReader, InputPartition
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import StructType

from halfway.core.records.trace_columns import live_schema
from halfway.pipeline.spark.shipping import use_unpacked_copy

_ROWS_AT_ONCE = 16_384


@dataclass
class FileOfTrace(InputPartition):
    """A file of a trace for one task."""

    path: str


class TraceReader(DataSourceReader):
    """The data source's reader of traces. It gives a simulated trace the columns of a live one; the
    columns of clocks are then null.
    """

    def __init__(self, files: Sequence[Path], schema: StructType) -> None:
        self.files, self.schema = [str(file) for file in files], schema

    def partitions(self) -> Sequence[InputPartition]:
        """Return one task of the Spark data source for each file of a trace."""
        return [FileOfTrace(file) for file in self.files]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a trace file for Spark's data source."""
        assert isinstance(partition, FileOfTrace)
        use_unpacked_copy()
        schema = to_arrow_schema(self.schema, timezone="UTC")
        with pq.ParquetFile(partition.path) as opened:
            for batch in opened.iter_batches(_ROWS_AT_ONCE):
                table = pa.Table.from_batches([batch])
                columns = [
                    table[field.name].cast(field.type)
                    if field.name in table.column_names
                    else pa.nulls(table.num_rows, field.type)
                    for field in schema
                ]
                yield from pa.table(columns, schema=schema).to_batches()


def trace_files(path: Path) -> list[Path]:
    """Return the files of a trace: one of a simulated run, or all of a folder of live nodes.

    Empty where the path is neither. A file that is being written is left out.
    """
    files = [path] if path.is_file() else sorted(path.glob("[!.]*.parquet"))
    if not files:
        return []
    try:
        names = pq.read_schema(files[0]).names
    except (OSError, pa.ArrowInvalid):
        return []
    return files if {"at", "what", "row", "node", "args"} <= set(names) else []


def trace_columns() -> StructType:
    """Return the columns of traces in the Spark data source, in Spark's types, which know no
    unsigned numbers.
    """
    columns = []
    for field in live_schema():
        column_type = field.type
        if pa.types.is_dictionary(column_type):
            column_type = pa.string()
        elif pa.types.is_fixed_size_list(column_type):
            column_type = pa.list_(column_type.value_type)
        elif pa.types.is_unsigned_integer(column_type):
            column_type = pa.int64()
        columns.append(pa.field(field.name, column_type))
    return from_arrow_schema(pa.schema(columns))
