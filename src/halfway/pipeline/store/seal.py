"""A wave's seal: what its files were when it was finished. Written once, and only ever compared.

waves/00001/_seal.json   an underscore hides it from Spark's readers
"""

import hashlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

import halfway
from halfway.files import write_whole
from halfway.problem import Problem

NAME = "_seal.json"


class SealedFile(msgspec.Struct, frozen=True):
    """One part file."""

    bytes: int
    sha256: str


class Seal(msgspec.Struct, frozen=True):
    """What a wave held when it was finished."""

    halfway: str  # version that wrote it
    finished: str  # UTC, ISO 8601, whole seconds
    runs: int
    errors: int
    digest: str  # of its sorted (key, status, run digest)
    files: dict[str, SealedFile]


def seal(wave: Path, runs: int) -> Seal:
    """Seal a wave that Spark has finished; `runs` is how many it was to make.

    Raises Problem if fewer or more are there: the workers' files then lie on another disk.
    """
    files = sorted(wave.glob("*.parquet"))
    columns = ["key", "status", "digest"]
    parts = [pq.read_table(file, columns=columns) for file in files]
    found = sum(part.num_rows for part in parts)
    if found != runs:
        raise Problem(
            f"{found} of the wave's {runs} runs have arrived",
            where=str(wave),
            remedy="the folder must be one that the driver and every worker see",
        )
    table = pa.concat_tables(parts)
    sealed = Seal(
        halfway=halfway.__version__,
        finished=stamp(),
        runs=found,
        errors=table["status"].to_pylist().count("error"),
        digest=lines_digest(*(table[name].to_pylist() for name in columns)),
        files={file.name: sealed_file(file) for file in files},
    )
    write_whole(wave / NAME, msgspec.json.format(msgspec.json.encode(sealed), indent=1))
    return sealed


def read_seal(wave: Path) -> Seal | None:
    """The seal of a wave; None if it has none (its writer was killed just before, or is older).

    Raises msgspec.MsgspecError if it is no seal, OSError if it cannot be read.
    """
    path = wave / NAME
    return msgspec.json.decode(path.read_bytes(), type=Seal) if path.exists() else None


def changed_files(wave: Path, sealed: Seal) -> Iterator[tuple[Path, str]]:
    """Files of a wave that are not what they were, each with what has become of it."""
    there = {file.name for file in wave.glob("*.parquet")}
    for name, was in sorted(sealed.files.items()):
        file = wave / name
        if name not in there:
            yield file, "is missing"
        elif (size := file.stat().st_size) != was.bytes:
            yield file, f"has {size:,} bytes, and had {was.bytes:,}"
        elif sealed_file(file) != was:
            yield file, "is not what it was when its wave was finished"
    for name in sorted(there - set(sealed.files)):
        yield wave / name, "was not there when its wave was finished"


def sealed_file(file: Path) -> SealedFile:
    """A file as it is now."""
    with file.open("rb") as opened:
        return SealedFile(file.stat().st_size, hashlib.file_digest(opened, "sha256").hexdigest())


def lines_digest(keys: list[str], statuses: list[str], digests: list[str]) -> str:
    """16 hex digits over the sorted (key, status, run digest)."""
    whole = hashlib.sha256()
    for key, status, own in sorted(zip(keys, statuses, digests, strict=True)):
        whole.update(f"{key} {status} {own}\n".encode())
    return whole.hexdigest()[:16]


def stamp(seconds: float | None = None) -> str:
    """Seconds since 1970 (default: now) in UTC, ISO 8601, whole seconds."""
    when = datetime.now(UTC) if seconds is None else datetime.fromtimestamp(seconds, UTC)
    return when.strftime("%Y-%m-%dT%H:%M:%SZ")
