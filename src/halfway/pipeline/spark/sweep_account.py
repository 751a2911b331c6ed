"""The account of a sweep from the event log of Spark: the time of each stage.

An event log has one JSON object a line, as Spark's own history server reads it. All times of a
stage are sums over its tasks, except its wall time.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

OTHER = "other"  # a job that Halfway has not named
_MADE = ("place runs", "make runs")
# First word of a job -> its stages before and after the shuffle.
_PARTS = {"batch": _MADE, "warm-up": _MADE, "summaries": ("read runs", "summarise")}
_PYTHON = "time to execute Python code"
_WRITTEN = "internal.metrics.output.bytesWritten"
_SHUFFLED = "internal.metrics.shuffle.write.bytesWritten"


class Stage(msgspec.Struct, frozen=True):
    """A stage of a Spark job: its tasks, and where their seconds went."""

    job: str  # what Halfway called the job, such as "batch 00001"
    part: str  # what the stage does, such as "make runs", or Spark's own name
    number: int  # Spark's
    tasks: int
    failed: int  # tasks that failed or were lost, and were repeated
    wall_s: float
    python_s: float  # in our code, in the Python workers
    rest_s: float  # other run time of the tasks: start of Python, exchange, shuffle, writing
    launch_s: float  # scheduling, sending and unpacking of tasks and of their results
    lost_s: float  # of failed tasks
    idle_s: float  # wall time of all cores, without the tasks above
    gc_s: float  # of the JVM; part of rest_s
    written_bytes: int


class SweepAccount(NamedTuple):
    """The account of a Spark application: its stages, and the wall time outside of its jobs."""

    stages: tuple[Stage, ...]
    cores: int  # at most, over all executors
    before_s: float  # from the start of Spark's context to the first job
    between_s: float  # without a job, between the first one and the last one


def account_of(folder: Path) -> SweepAccount | None:
    """Return the account in a folder of Spark event logs, or None if it has no log."""
    logs = sorted(path for path in folder.iterdir() if path.is_file()) if folder.is_dir() else []
    events = [event for log in logs for event in _events(log)]
    if not any(event["Event"] == "SparkListenerApplicationStart" for event in events):
        return None
    return _account(events)


def _events(log: Path) -> Iterator[dict[str, Any]]:
    with log.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                yield json.loads(line)
            except ValueError:  # the last line of a driver that was killed
                return


def _account(events: list[dict[str, Any]]) -> SweepAccount:
    names: dict[int, str] = {}  # stage -> job
    spans: dict[int, list[float]] = {}  # job -> its submission and its end, in ms
    tasks: dict[tuple[int, int], list[dict[str, Any]]] = {}
    begun, cores, most = 0.0, 0, 0
    sizes: dict[str, int] = {}
    for event in events:
        match event["Event"].rpartition(".")[2]:
            case "SparkListenerApplicationStart":
                begun = event["Timestamp"]
            case "SparkListenerExecutorAdded":
                sizes[event["Executor ID"]] = event["Executor Info"]["Total Cores"]
            case "SparkListenerExecutorRemoved":
                sizes.pop(event["Executor ID"], None)
            case "SparkListenerJobStart":
                words = event.get("Properties") or {}
                spans[event["Job ID"]] = [event["Submission Time"], event["Submission Time"]]
                for stage in event["Stage IDs"]:
                    names[stage] = words.get("spark.job.description") or OTHER
            case "SparkListenerJobEnd":
                spans[event["Job ID"]][1] = event["Completion Time"]
            case "SparkListenerTaskEnd":
                at = event["Stage ID"], event["Stage Attempt ID"]
                tasks.setdefault(at, []).append(event)
        cores = sum(sizes.values())
        most = max(most, cores)
    stages = [
        _stage(event["Stage Info"], names, tasks, most)
        for event in events
        if event["Event"] == "SparkListenerStageCompleted"
    ]
    return SweepAccount(tuple(stages), most, *_outside(begun, spans.values()))


def _stage(
    info: Mapping[str, Any],
    names: Mapping[int, str],
    tasks: Mapping[tuple[int, int], list[dict[str, Any]]],
    cores: int,
) -> Stage:
    """Return a completed stage, with the tasks of its attempt."""
    own = tasks.get((info["Stage ID"], info["Stage Attempt ID"]), [])
    good = [task for task in own if task["Task End Reason"]["Reason"] == "Success"]
    lost = sum(_lasted(task) for task in own) - sum(_lasted(task) for task in good)
    sums = _sums(info.get("Accumulables", ()))
    run = sum((task.get("Task Metrics") or {}).get("Executor Run Time", 0) for task in good)
    wall = (info.get("Completion Time", 0) - info.get("Submission Time", 0)) / 1000.0
    whole = sum(_lasted(task) for task in good)
    python = min(sums.get(_PYTHON, 0.0), float(run)) / 1000.0
    job = names.get(info["Stage ID"], OTHER)
    return Stage(
        job=job, part=_part(job, info, _SHUFFLED in sums), number=info["Stage ID"], tasks=len(good),
        failed=len(own) - len(good), wall_s=wall, python_s=python, rest_s=run / 1000.0 - python,
        launch_s=max(0.0, whole - run / 1000.0), lost_s=lost,
        idle_s=max(0.0, wall * cores - whole - lost),
        gc_s=sums.get("internal.metrics.jvmGCTime", 0.0) / 1000.0,
        written_bytes=int(sums.get(_WRITTEN, 0.0)),
    )  # fmt: skip


def _part(job: str, info: Mapping[str, Any], shuffles: bool) -> str:
    """Return which part of a Spark job a stage is: before the shuffle, after the shuffle, or
    another part.
    """
    before, after = _PARTS.get(job.split(maxsplit=1)[0], ("", ""))
    known = before if shuffles else after if info.get("Parent IDs") else ""
    return known or str(info["Stage Name"]).split(" at ", 1)[0]


def _lasted(task: Mapping[str, Any]) -> float:
    """Return the seconds of a task in a sweep's account, from its launch to its end, as the driver
    sees them.
    """
    info = task["Task Info"]
    return max(0.0, float(info["Finish Time"] - info["Launch Time"]) / 1000.0)


def _sums(accumulables: Iterable[Mapping[str, Any]]) -> dict[str, float]:
    """Return sums over the tasks of a stage in a sweep's account, by name; SQL metrics that are not
    numbers are skipped.
    """
    sums: dict[str, float] = {}
    for accumulable in accumulables:
        try:
            sums[accumulable["Name"]] = sums.get(accumulable["Name"], 0.0) + float(
                accumulable["Value"]
            )
        except (KeyError, TypeError, ValueError):
            continue
    return sums


def _outside(begun: float, spans: Iterable[list[float]]) -> tuple[float, float]:
    """Return two times of a sweep's account, in seconds: the time before the first job, and the
    time between the jobs.
    """
    before, between, end = 0.0, 0.0, begun
    for number, (start, finish) in enumerate(sorted(spans)):
        gap = max(0.0, start - end) / 1000.0
        before, between = (gap, 0.0) if number == 0 else (before, between + gap)
        end = max(end, finish)
    return before, between
