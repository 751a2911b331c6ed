"""The checksum manifest of a batch: size and SHA-256 of each file when the batch was finished.

batches/00001/_manifest.json   Spark's readers skip names that begin with an underscore
"""

import hashlib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeAlias

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from halfway.files import write_whole
from halfway.package import __version__
from halfway.problem import Problem

NAME = "_manifest.json"
_LINES = 1 << 14  # of a digest, in memory as Python's texts at once
Texts: TypeAlias = pa.ChunkedArray | Sequence[str]


class FileChecksum(msgspec.Struct, frozen=True):
    """The manifest entry of a batch's part file: its size and checksum."""

    bytes: int
    sha256: str


class BatchManifest(msgspec.Struct, frozen=True):
    """The manifest of a finished batch: its contents, with checksums."""

    halfway: str  # version that wrote it
    finished: str  # UTC, ISO 8601, whole seconds
    runs: int
    errors: int
    digest: str  # of the batch's sorted (key, status, run digest)
    files: dict[str, FileChecksum]


def write_manifest(batch: Path, runs: int) -> BatchManifest:
    """Write the manifest of a batch that Spark has finished; `runs` is the planned number.

    Raises Problem if the batch has another number of runs: the workers wrote to another disk.
    """
    files, columns = sorted(batch.glob("*.parquet")), ["key", "status", "digest"]
    parts = [pq.read_table(file, columns=columns) for file in files]
    rows = sum(part.num_rows for part in parts)
    if rows != runs:
        what = f"the batch has {rows} runs, expected {runs}"
        remedy = "use a folder that the driver and every worker can access"
        raise Problem(what, where=str(batch), remedy=remedy)
    table = pa.concat_tables(parts)
    errors = table.filter(pc.equal(table["status"], "error")).num_rows
    checksums = {file.name: file_checksum(file) for file in files}
    manifest = BatchManifest(
        __version__,
        timestamp(),
        rows,
        errors,
        lines_digest(*(table[name] for name in columns)),
        checksums,
    )
    write_whole(batch / NAME, msgspec.json.format(msgspec.json.encode(manifest), indent=1))
    return manifest


def read_manifest(batch: Path) -> BatchManifest | None:
    """Read the manifest of a batch; return None if the writer was killed before it wrote one.

    Raises msgspec.MsgspecError if it is malformed, OSError if it cannot be read.
    """
    path = batch / NAME
    return msgspec.json.decode(path.read_bytes(), type=BatchManifest) if path.exists() else None


def changed_files(batch: Path, manifest: BatchManifest) -> Iterator[tuple[Path, str]]:
    """Yield files of a batch that differ from the batch's manifest, each with the difference."""
    present = {file.name for file in batch.glob("*.parquet")}
    for name, expected in sorted(manifest.files.items()):
        file = batch / name
        if name not in present:
            yield file, "is missing"
        elif (size := file.stat().st_size) != expected.bytes:
            yield file, f"has {size:,} bytes, expected {expected.bytes:,}"
        elif file_checksum(file) != expected:
            yield file, "has changed since its batch was finished"
    for name in sorted(present - set(manifest.files)):
        yield batch / name, "was added after its batch was finished"


def file_checksum(file: Path) -> FileChecksum:
    """Return size and checksum of a file, as the manifest of a batch states them."""
    with file.open("rb") as opened:
        return FileChecksum(file.stat().st_size, hashlib.file_digest(opened, "sha256").hexdigest())


def lines_digest(keys: Texts, statuses: Texts, digests: Texts) -> str:
    """Return a manifest's digest: 16 hex digits over the sorted (key, status, run digest)."""
    names = ("key", "status", "digest")
    columns = [
        values if isinstance(values, pa.ChunkedArray) else pa.array(values, pa.string())
        for values in (keys, statuses, digests)
    ]
    table = pa.table(columns, names)
    column = table["key"]
    before = column.slice(0, max(0, len(column) - 1))
    if not pc.all(pc.less(before, column.slice(1)), min_count=0).as_py():  # a folder's are sorted
        table = table.sort_by([(name, "ascending") for name in names])
    whole = hashlib.sha256()
    for batch in table.to_batches(max_chunksize=_LINES):
        lines = pc.binary_join_element_wise(*batch.columns, pa.scalar(" "))
        whole.update("".join(f"{line}\n" for line in lines.to_pylist()).encode())
    return whole.hexdigest()[:16]


def timestamp(seconds: float | None = None) -> str:
    """Return a manifest's time in UTC, as ISO 8601 in whole seconds. seconds: the time since 1970,
    or None for now.
    """
    when = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
