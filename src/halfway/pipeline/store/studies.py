"""What was asked of a result folder: each study's plan, so that what is missing has a name.

asked/<digest of the name>.parquet   the keys of its plan; what it is stands in the metadata
"""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import halfway
from halfway.files import write_whole
from halfway.pipeline.store.seal import stamp

_METADATA = b"halfway.asked"
Plans = Mapping[str, pa.Table]  # a study's name, such as "drip/figure-3 (quick)" -> its plan


class Asked(msgspec.Struct, frozen=True):
    """One study as it was last asked for."""

    name: str
    when: str  # UTC, ISO 8601, whole seconds
    halfway: str  # version that asked
    points: int
    replicates: int
    keys: tuple[str, ...] = ()  # of the runs it needs; not in the metadata


def note(folder: Path, plans: Plans) -> None:
    """Keep what is asked for, each study in place of what was asked under its name before.

    Only for the holder of the folder's lock.
    """
    for name, plan in plans.items():
        asked = Asked(name, stamp(), halfway.__version__, _points(plan), _replicates(plan))
        told = msgspec.json.encode(msgspec.structs.asdict(asked) | {"keys": ()})
        target = folder / f"{hashlib.sha256(name.encode()).hexdigest()[:16]}.parquet"
        schema = pa.schema([("key", pa.string())], {_METADATA: told})
        whole = pa.BufferOutputStream()
        pq.write_table(pa.table([plan["key"].combine_chunks()], schema), whole)
        write_whole(target, whole.getvalue().to_pybytes())


def read_asked(folder: Path) -> Iterator[Asked]:
    """Every study asked for, by name. Raises OSError or an Arrow error for a damaged file."""
    found = []
    for file in folder.glob("*.parquet"):
        table = pq.read_table(file)
        asked = msgspec.json.decode((table.schema.metadata or {})[_METADATA], type=Asked)
        found.append(msgspec.structs.replace(asked, keys=tuple(table["key"].to_pylist())))
    yield from sorted(found, key=lambda asked: asked.name)


def _points(plan: pa.Table) -> int:
    return len(set(zip(plan["measurement"].to_pylist(), plan["parameters"].to_pylist(),
                       strict=True)))  # fmt: skip


def _replicates(plan: pa.Table) -> int:
    return int(np.max(plan["replicate"].to_numpy(), initial=-1)) + 1
