"""The audit of a result folder: its contents, its integrity, and its failed runs. The audit changes
no file and starts no Spark.
"""

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq

from halfway.pipeline.plan.run import scenario_seed, unsigned
from halfway.pipeline.retry import codes_here, why_not
from halfway.pipeline.spark.simulate_rows import SCHEMA
from halfway.pipeline.store import manifest
from halfway.pipeline.store.store import Store, altered, chosen, damaged_runs, read_rows
from halfway.pipeline.store.study_requests import StudyRequest, read_requests
from halfway.problem import Problem

_SMALL = pa.schema([f for f in SCHEMA if f.name not in ("seconds", "observations")])
_ROWS_AT_ONCE = 256  # a run of the largest sweeps has about 100 kB of observations
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?")
RunRows = list[dict[str, Any]]


class Damage(msgspec.Struct, frozen=True):
    """A damaged file of a result folder, changed since it was written, or unreadable."""

    file: str  # relative to the folder
    what: str


class Failure(msgspec.Struct, frozen=True):
    """Failed runs of an audited result folder whose errors differ in numbers only.

    Seeds are text, because many readers of JSON round numbers above 2^53.
    """

    error: str  # error of the first run: type and message, in one line
    runs: int
    measurement: str  # this field and the following ones belong to the first failed run
    title: str  # of the study; "" for a run of none
    system: str  # "" for a measurement without a system
    replicate: int
    seed: str  # for `halfway simulate --seed`; "" for a run that is not of a scenario
    parameters: str  # canonical JSON
    network_seed: str
    random_seed: str
    cannot_retry: str  # reason why the run cannot be repeated from its stored row, or ""


class Measured(msgspec.Struct, frozen=True):
    """The runs in an audited folder that belong to one measurement and one version of Halfway."""

    measurement: str
    halfway: str  # version
    points: int
    replicates: int  # the maximum over the points
    runs: int
    errors: int


class Study(msgspec.Struct, frozen=True):
    """A requested study of an audited result folder, and its progress."""

    name: str
    when: str  # UTC, ISO 8601
    halfway: str  # version
    points: int
    replicates: int
    runs: int  # number of runs that the study needs
    made: int  # number of these runs made, errors included
    errors: int  # number of these runs that failed


class Audit(msgspec.Struct, frozen=True):
    """The audit of a result folder. `--json` prints exactly these fields."""

    folder: str
    halfway: str  # version that made the folder
    digest: str  # canonical, of the runs; "" if a file is damaged
    runs: int
    errors: int
    bytes: int
    first: str  # when the first batch was finished, UTC, ISO 8601; "" without batches
    last: str
    batches: int
    unfinished: tuple[str, ...]  # batches that do not count: interrupted, or being written
    writer: str  # process and host of the last writer
    unchecked: tuple[str, ...]  # batches without a manifest: their files cannot be checked
    studies: tuple[Study, ...]
    measured: tuple[Measured, ...]
    failures: tuple[Failure, ...]  # most frequent first
    damage: tuple[Damage, ...]


def results_in(folder: Path) -> Store:
    """Return the result folder to audit: `folder`, or its subfolder "runs" if it is an `--out`
    folder.

    Raises Problem for a folder without results.
    """
    if not folder.exists():
        what = "there is no such folder: expected a folder with results"
        raise Problem(what, where=str(folder))
    for place in (folder, folder / "runs"):
        if not folder.is_dir() or (place / "manifest.json").exists():
            return Store(place)  # which reports a file in place of a folder
    raise Problem(
        "the folder contains no results",
        where=str(folder),
        remedy="name the --out folder of another command",
    )


def audit(store: Store) -> Audit:
    """Audit a result folder: each file by its batch's manifest, each run by its digest.

    Raises Problem only if the folder as a whole cannot be read.
    """
    damage: list[Damage] = []
    parts: list[pa.Table] = [_SMALL.empty_table()]
    times: list[str] = []
    with store.reading():
        batches, requests = store.finished_batches(), _requests(store, damage)
        for batch in batches:
            parts += _batch(store, batch, damage, times)
        every = sorted(store.batches.iterdir()) if store.batches.is_dir() else []
        size = sum(file.stat().st_size for file in store.files())
    table = pa.concat_tables(parts)
    runs = table.take(chosen(table["key"], table["status"]))
    rows = runs.to_pylist()
    digest = "" if damage else manifest.lines_digest(runs["key"], runs["status"], runs["digest"])
    return Audit(
        folder=str(store.folder), halfway=store.made_by(), digest=digest, runs=len(rows),
        errors=sum(row["status"] != "ok" for row in rows), bytes=size,
        first=min(times, default=""), last=max(times, default=""), batches=len(batches),
        unfinished=tuple(batch.name for batch in every if batch not in batches),
        writer=store.last_writer(),
        unchecked=tuple(batch.name for batch in batches if not (batch / manifest.NAME).exists()),
        studies=_studies(requests, {row["key"]: row["status"] for row in rows}),
        measured=_measured(rows), failures=_failures(rows, requests), damage=tuple(damage),
    )  # fmt: skip


def _batch(store: Store, batch: Path, damage: list[Damage], times: list[str]) -> list[pa.Table]:
    """Return the small columns in the files of an audited batch; add to `damage` and `times`."""
    bad: dict[Path, str] = {}
    when = manifest.timestamp((batch / "_SUCCESS").stat().st_mtime)
    try:
        if written := manifest.read_manifest(batch):
            bad, when = dict(manifest.changed_files(batch, written)), written.finished
    except (OSError, msgspec.MsgspecError) as error:
        bad = {batch / manifest.NAME: f"cannot be read: {error}"}
    times.append(when)
    parts = []
    for file in sorted(batch.glob("*.parquet")):
        try:
            parts.append(read_rows(file, _SMALL))
            if keys := _altered(file):
                bad.setdefault(file, damaged_runs(file, keys).what)
        except (Problem, OSError, pa.ArrowException, KeyError, ValueError) as error:
            bad.setdefault(file, getattr(error, "what", str(error)).splitlines()[0])
    damage += [Damage(str(f.relative_to(store.folder)), what) for f, what in sorted(bad.items())]
    return parts


def _altered(file: Path) -> list[str]:
    with pq.ParquetFile(file) as opened:
        groups = opened.iter_batches(_ROWS_AT_ONCE, columns=["key", "digest", "observations"])
        return [key for rows in groups for key in altered(rows)]


def _requests(store: Store, damage: list[Damage]) -> list[StudyRequest]:
    try:
        return list(read_requests(store.studies))
    except Problem as problem:
        damage.append(Damage(str(Path(problem.where).relative_to(store.folder)), problem.what))
        return []


def _studies(requests: list[StudyRequest], statuses: dict[str, str]) -> tuple[Study, ...]:
    found = []
    for one in requests:
        made = [statuses[key] for key in one.keys if key in statuses]
        named = (one.name, one.when, one.halfway, one.points, one.replicates)
        found.append(Study(*named, len(one.keys), len(made), sum(s != "ok" for s in made)))
    return tuple(found)


def _measured(rows: RunRows) -> tuple[Measured, ...]:
    found = []
    for pair in sorted({(row["measurement"], row["version"]) for row in rows}):
        own = [row for row in rows if (row["measurement"], row["version"]) == pair]
        points = Counter(row["parameters"] for row in own)
        errors = sum(row["status"] != "ok" for row in own)
        found.append(Measured(*pair, len(points), max(points.values()), len(own), errors))
    return tuple(found)


def _failures(rows: RunRows, requests: list[StudyRequest]) -> tuple[Failure, ...]:
    groups: dict[tuple[str, str], RunRows] = {}
    failed = [row for row in rows if row["status"] != "ok"]
    codes = codes_here(row["measurement"] for row in failed)
    for row in failed:
        groups.setdefault((_NUMBER.sub("#", row["error"]), why_not(row, codes)), []).append(row)
    titles = {key: study.title or study.name for study in requests for key in study.keys}
    failures = []
    for (_, reason), own in groups.items():
        row = min(own, key=lambda row: (row["parameters"], row["replicate"]))
        parameters = json.loads(row["parameters"])
        is_scenario = "scenario" in parameters
        failures.append(Failure(
            error=row["error"], runs=len(own), measurement=row["measurement"],
            title=titles.get(row["key"], ""), system=str(parameters.get("system", "")),
            replicate=row["replicate"],
            seed=str(scenario_seed(row["network_seed"])) if is_scenario else "",
            parameters=row["parameters"], network_seed=str(unsigned(row["network_seed"])),
            random_seed=str(unsigned(row["random_seed"])), cannot_retry=reason,
        ))  # fmt: skip
    return tuple(sorted(failures, key=lambda failure: -failure.runs))


def audit_json(found: Audit) -> str:
    """Return an `Audit` of a result folder, with all its fields, as one line of JSON."""
    return json.dumps(msgspec.to_builtins(found), ensure_ascii=False)
