"""What a result folder holds, whether it is whole, and what failed. Reads only; starts no Spark."""

import json
from collections import Counter
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from halfway.pipeline.plan.run import unsigned
from halfway.pipeline.rerun import codes_here, why_not
from halfway.pipeline.spark.simulate import SCHEMA
from halfway.pipeline.store.digest import altered
from halfway.pipeline.store.seal import changed_files, lines_digest, read_seal, stamp
from halfway.pipeline.store.store import Store, chosen, read_rows
from halfway.pipeline.store.studies import Asked, read_asked
from halfway.problem import Problem

_LIGHT = pa.schema([f for f in SCHEMA if f.name not in ("seconds", "observations")])
_CHECKED = ["key", "digest", "observations"]
_ROWS_AT_ONCE = 256  # a run of the largest sweeps has some 100 kB of observations


class Damage(msgspec.Struct, frozen=True):
    """A file that is not as its writer left it, or cannot be read."""

    file: str  # below the folder
    what: str


class Failure(msgspec.Struct, frozen=True):
    """Runs that ended in the same error."""

    error: str  # type and message, in one line
    runs: int
    measurement: str  # of the first of them, as all that follows
    parameters: str  # canonical JSON
    replicate: int
    network_seed: int
    dice_seed: int
    cannot_rerun: str  # why it cannot be made again from what is stored; "" if it can


class Measured(msgspec.Struct, frozen=True):
    """What one version measured with one measurement."""

    measurement: str
    halfway: str  # version
    points: int
    replicates: int  # the most that a point has
    runs: int
    errors: int


class Study(msgspec.Struct, frozen=True):
    """A study that was asked for, and how far it came."""

    name: str
    when: str  # UTC, ISO 8601
    halfway: str  # version
    points: int
    replicates: int
    runs: int  # that it needs
    made: int  # of them, errors included
    errors: int  # of these


class Audit(msgspec.Struct, frozen=True):
    """A result folder, looked at. `--json` prints exactly these fields."""

    folder: str
    halfway: str  # version that made the folder
    digest: str  # canonical, of the runs; "" where a file cannot be read
    runs: int
    errors: int
    bytes: int
    first: str  # when the first wave was finished, UTC, ISO 8601; "" without waves
    last: str
    waves: int
    unfinished: tuple[str, ...]  # waves that do not count: interrupted, or being written
    writer: str  # who wrote last
    studies: tuple[Study, ...]
    measured: tuple[Measured, ...]
    failures: tuple[Failure, ...]  # most frequent first
    damage: tuple[Damage, ...]


def results_in(folder: Path) -> Store:
    """The results at `folder`, or in its `runs`, where a command that publishes keeps them.

    Raises Problem if there are none.
    """
    if not folder.exists():
        raise Problem("there is no such folder", where=str(folder))
    for place in (folder, folder / "runs"):
        if not folder.is_dir() or (place / "manifest.json").exists():
            return Store(place)  # a file in a folder's place is told there
    raise Problem("holds no results", where=str(folder), remedy="name what --out named")


def audit(store: Store) -> Audit:
    """Look at everything: each file against its wave's seal, each run against its digest.

    Raises Problem only where the folder as a whole cannot be read.
    """
    damage: list[Damage] = []
    parts: list[pa.Table] = [_LIGHT.empty_table()]
    times: list[str] = []
    with store.reading():
        waves, asked = store.finished_waves(), _asked(store, damage)
        for wave in waves:
            parts += _wave(store, wave, damage, times)
        every = sorted(store.waves.iterdir()) if store.waves.is_dir() else []
        size = sum(file.stat().st_size for file in store.files())
    table = pa.concat_tables(parts)
    whole = table.take(pa.array(chosen(*_columns(table, "key", "status")), pa.int64()))
    rows = whole.to_pylist()
    return Audit(
        folder=str(store.folder),
        halfway=store.made_by(),
        digest="" if damage else lines_digest(*_columns(whole, "key", "status", "digest")),
        runs=len(rows),
        errors=sum(row["status"] != "ok" for row in rows),
        bytes=size,
        first=min(times, default=""),
        last=max(times, default=""),
        waves=len(waves),
        unfinished=tuple(wave.name for wave in every if wave not in waves),
        writer=store.last_writer(),
        studies=_studies(asked, {row["key"]: row["status"] for row in rows}),
        measured=_measured(rows),
        failures=_failures(rows),
        damage=tuple(damage),
    )


def _wave(store: Store, wave: Path, damage: list[Damage], times: list[str]) -> list[pa.Table]:
    """The light columns of a wave's files; what is wrong with it goes to `damage`."""
    bad: dict[Path, str] = {}
    when = stamp((wave / "_SUCCESS").stat().st_mtime)
    try:
        if sealed := read_seal(wave):
            bad, when = dict(changed_files(wave, sealed)), sealed.finished
    except (OSError, msgspec.MsgspecError) as error:
        bad = {wave / "_seal.json": f"cannot be read: {error}"}
    times.append(when)
    found = []
    for file in sorted(wave.glob("*.parquet")):
        try:
            found.append(read_rows(file, _LIGHT))
            if keys := _altered(file):
                bad.setdefault(file, f"{len(keys)} runs do not fit their digest, first {keys[0]}")
        except (Problem, OSError, pa.ArrowException) as error:
            bad.setdefault(file, getattr(error, "what", str(error)).splitlines()[0])
    damage += [Damage(str(f.relative_to(store.folder)), what) for f, what in sorted(bad.items())]
    return found


def _altered(file: Path) -> list[str]:
    with pq.ParquetFile(file) as opened:
        batches = opened.iter_batches(_ROWS_AT_ONCE, columns=_CHECKED)
        return [key for batch in batches for key in altered(batch)]


def _asked(store: Store, damage: list[Damage]) -> list[Asked]:
    try:
        return list(read_asked(store.asked))
    except (OSError, pa.ArrowException, msgspec.MsgspecError, KeyError) as error:
        damage.append(Damage(store.asked.name, f"cannot be read: {error}".splitlines()[0]))
        return []


def _studies(asked: list[Asked], statuses: dict[str, str]) -> tuple[Study, ...]:
    found = []
    for one in asked:
        made = [statuses[key] for key in one.keys if key in statuses]
        named = (one.name, one.when, one.halfway, one.points, one.replicates)
        found.append(Study(*named, len(one.keys), len(made), sum(s != "ok" for s in made)))
    return tuple(found)


def _measured(rows: list[dict[str, object]]) -> tuple[Measured, ...]:
    found = []
    pairs = sorted({(str(row["measurement"]), str(row["version"])) for row in rows})
    for measurement, version in pairs:
        own = [r for r in rows if (r["measurement"], r["version"]) == (measurement, version)]
        points = Counter(row["parameters"] for row in own)
        errors = sum(row["status"] != "ok" for row in own)
        most = max(points.values())
        found.append(Measured(measurement, version, len(points), most, len(own), errors))
    return tuple(found)


def _failures(rows: list[dict[str, object]]) -> tuple[Failure, ...]:
    groups: dict[tuple[str, str], list[dict[str, object]]] = {}
    failed = [row for row in rows if row["status"] != "ok"]
    codes = codes_here(str(row["measurement"]) for row in failed)
    for row in failed:
        groups.setdefault((str(row["error"]), why_not(row, codes)), []).append(row)
    found = []
    for (error, reason), own in groups.items():
        first = min(own, key=lambda row: (str(row["parameters"]), int(str(row["replicate"]))))
        found.append(
            Failure(
                error,
                len(own),
                str(first["measurement"]),
                str(first["parameters"]),
                int(str(first["replicate"])),
                unsigned(int(str(first["network_seed"]))),
                unsigned(int(str(first["dice_seed"]))),
                reason,
            )
        )
    return tuple(sorted(found, key=lambda failure: -failure.runs))


def _columns(table: pa.Table, *names: str) -> list[list[str]]:
    return [table[name].to_pylist() for name in names]


def audit_json(found: Audit) -> str:
    """The audit as one line of JSON."""
    return json.dumps(msgspec.to_builtins(found), ensure_ascii=False)
