"""Runs of a sweep on the cores of this machine without Spark, whose start would take longer."""

import contextlib
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from halfway.pipeline.parent_process import environment_with_imports
from halfway.pipeline.spark.simulate_rows import result, rows_batch
from halfway.problem import Problem

# Wall time of runs without Spark: Spark's start, 8 s, is a small share of a longer sweep, and a
# crash of a run ends a worker of Spark only.
MOST_S = 40.0
_EACH_S = 2.0  # seconds of runs for each process, which takes a second to start
_MOST_TAKEN = 1 << 14  # numbers of runs that the pipe of a batch holds
_NUMBER = 4  # bytes of such a number
_POLL_S = 0.05
_LONGEST = 500  # characters of the last words of a process
_PART = "part-{:05}.zstd.parquet"


def worth_it(seconds: float, cores: int) -> bool:
    """Return whether a sweep makes runs on this machine without Spark, given their seconds on one
    core.
    """
    return seconds <= MOST_S * max(1, cores)


def processes_for(seconds: float, cores: int) -> int:
    """Return the number of processes that make a sweep's runs without Spark, given the seconds of
    these runs on one core.
    """
    return max(1, min(cores, int(seconds / _EACH_S)))


def run_here(
    rows: pa.Table,
    target: Path,
    seconds: float,
    on_progress: Callable[[int], None],
    processes: int = 1,
) -> dict[str, dict[str, float]]:
    """Make the runs of plan rows on this machine without Spark until a time limit, and store them
    in a folder.

    on_progress: called with the number of runs made. processes: 1 is this process; more are
    processes of `pipeline.run_process`. Returns key -> seconds of the runs made; at least one is
    made. An interrupt loses them, as an interrupt of Spark loses a batch. Raises Problem if one of
    several processes dies.
    """
    until = time.monotonic() + seconds
    listed = rows.slice(0, _MOST_TAKEN).to_pylist()
    target.mkdir(parents=True)
    with _numbers(len(listed)) as numbers:
        if processes > 1:
            _run_beside(listed, target, numbers, until, processes, on_progress)
        else:
            made = itertools.count(1)
            file = target / _PART.format(0)
            make_runs(listed, numbers, until, file, lambda: on_progress(next(made)))
    (target / "_SUCCESS").touch()
    files = [pq.read_table(file, columns=["key", "seconds"]) for file in target.glob("*.parquet")]
    return {row["key"]: dict(row["seconds"]) for row in pa.concat_tables(files).to_pylist()}


def make_runs(
    rows: Sequence[Mapping[str, Any]],
    numbers: int,
    until: float,
    file: Path,
    made_one: Callable[[], None],
) -> None:
    """Make runs on a core of this machine without Spark until a time, and write their rows to a
    file; each number that the pipe `numbers` holds is that of a run which no other process makes.
    """
    results: list[dict[str, Any]] = []
    while not results or time.monotonic() < until:
        taken = os.read(numbers, _NUMBER)
        if not taken:
            break
        results.append(result(rows[int.from_bytes(taken, "little")]))
        made_one()
    if results:
        pq.write_table(pa.Table.from_batches([rows_batch(results)]), file, compression="zstd")


@contextlib.contextmanager
def _numbers(count: int) -> Iterator[int]:
    """Open a pipe that holds the numbers of the runs to make without Spark, each once."""
    reading, writing = os.pipe()
    try:
        os.write(writing, b"".join(k.to_bytes(_NUMBER, "little") for k in range(count)))
        os.close(writing)
        yield reading
    finally:
        os.close(reading)


def _run_beside(
    rows: Sequence[Mapping[str, Any]],
    target: Path,
    numbers: int,
    until: float,
    count: int,
    on_progress: Callable[[int], None],
) -> None:
    """Make runs without Spark in several processes; an error and an interrupt kill them."""
    with contextlib.ExitStack() as stack:
        plan = stack.enter_context(tempfile.NamedTemporaryFile("w", suffix=".json"))
        said = stack.enter_context(tempfile.TemporaryFile("w+"))
        json.dump(list(rows), plan)
        plan.flush()
        started = []
        for number in range(count):
            words = [plan.name, str(numbers), str(until), str(target / _PART.format(number))]
            process = stack.enter_context(_started(words, numbers, said))  # waits at the end
            stack.callback(process.kill)
            assert process.stdout is not None
            os.set_blocking(process.stdout.fileno(), False)
            started.append((process, process.stdout.fileno()))
        made = 0
        while True:
            ended = all(process.poll() is not None for process, _ in started)
            for _, stdout in started:
                with contextlib.suppress(BlockingIOError):
                    made += len(os.read(stdout, 1 << 16))
            on_progress(made)
            for process, _ in started:
                if process.returncode:
                    raise _death(process.returncode, said)
            if ended:
                break
            time.sleep(_POLL_S)


def _started(words: Sequence[str], numbers: int, said: IO[str]) -> "subprocess.Popen[bytes]":
    """Return a new process that makes runs without Spark, and writes a byte for each."""
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "halfway.pipeline.run_process", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=said,
        pass_fds=(numbers,),
        env=environment_with_imports(),
        start_new_session=True,  # Ctrl-C reaches this process, which ends them
    )


def _death(status: int, said: IO[str]) -> Problem:
    """Return the Problem for a dead process of runs without Spark, with its last words."""
    said.seek(0)
    lines = [line.strip() for line in said if line.strip()]
    end = f"signal {-status}" if status < 0 else f"exit status {status}"
    what = f"a process that made runs died with {end}{': ' if lines else ''}"
    remedy = "finished batches are kept: run the command again to resume"
    return Problem(what + "".join(lines[-1:])[:_LONGEST], remedy=remedy)
