"""Requested studies of a result folder: the plan of each, so that missing runs can be named.

studies/<digest of the name>.parquet   the keys of its plan; the metadata holds the other fields
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

import halfway
from halfway.files import write_whole
from halfway.pipeline.store.manifest import timestamp

_METADATA = b"halfway.study"
Plans = Mapping[str, pa.Table]  # a study's name, such as "drip/figure-3 (quick)" -> its plan


class StudyRequest(msgspec.Struct, frozen=True):
    """The latest request for a study in a result folder."""

    name: str
    when: str  # UTC, ISO 8601, whole seconds
    halfway: str  # version that requested it
    points: int
    replicates: int
    keys: tuple[str, ...] = ()  # of the runs that it needs; not in the metadata


def record_requests(folder: Path, plans: Plans) -> None:
    """Write a request for each study to a result folder. It replaces one of the same name.

    Only for the holder of the folder's lock.
    """
    for name, plan in plans.items():
        columns = (plan[column].to_pylist() for column in ("measurement", "parameters"))
        points = len(set(zip(*columns, strict=True)))
        replicates = max(plan["replicate"].to_pylist(), default=-1) + 1
        request = StudyRequest(name, timestamp(), halfway.__version__, points, replicates)
        metadata = {_METADATA: msgspec.json.encode(request)}
        target = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.parquet"
        schema = pa.schema([("key", pa.string())], metadata)
        content = pa.BufferOutputStream()
        pq.write_table(pa.table([plan["key"].combine_chunks()], schema), content)
        write_whole(target, content.getvalue().to_pybytes())


def read_requests(folder: Path) -> Iterator[StudyRequest]:
    """Read the requested studies, by name. Raises OSError or an Arrow error for a damaged file."""
    found = []
    for file in folder.glob("*.parquet"):
        table = pq.read_table(file)
        request = msgspec.json.decode((table.schema.metadata or {})[_METADATA], type=StudyRequest)
        found.append(msgspec.structs.replace(request, keys=tuple(table["key"].to_pylist())))
    yield from sorted(found, key=lambda request: request.name)
