"""Races between implementations in one run: interleaved rounds, medians, ratios.

Only ratios within one run are meaningful: a machine that slows down slows all candidates.
"""

import ctypes
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table

YARDSTICK = "C"  # the candidate that ratio_to_c refers to


class Row(NamedTuple):
    """The median of one candidate over the rounds of one race."""

    name: str
    work: str
    seconds: float
    rate: float  # units of work a second
    ratio_to_c: float | None  # None where C did not run


def race(
    candidates: Mapping[str, Callable[[], object]], work: str, rounds: int, units: float = 1.0
) -> list[Row]:
    """Race candidates: run each once to warm it up, then once in each round; median wall seconds.

    `work` names what each call does, `units` counts it (nodes, steps) for the rate.
    """
    seconds: dict[str, list[float]] = {name: [] for name in candidates}
    for candidate in candidates.values():
        candidate()
    order = random.Random(rounds)
    for _ in range(rounds):
        # Shuffled, so that no candidate always runs on the caches of the same predecessor.
        for name, candidate in order.sample(list(candidates.items()), len(candidates)):
            begun = time.perf_counter()
            kept = candidate()  # its result is freed after the clock has stopped
            seconds[name].append(time.perf_counter() - begun)
            del kept
    median = {name: statistics.median(taken) for name, taken in seconds.items()}
    c = median.get(YARDSTICK)
    return [
        Row(name, work, taken, units / taken, taken / c if c else None)
        for name, taken in median.items()
    ]


def show(rows: list[Row], as_json: bool, unit: str = "unit") -> None:
    """Print the rows of races: one JSON object a line, or one table a race."""
    if as_json:
        for row in rows:
            sys.stdout.write(json.dumps(row._asdict()) + "\n")
        return
    for work in dict.fromkeys(row.work for row in rows):
        table = Table("candidate", "median", f"{unit}s/s", "of C")
        for column in table.columns[1:]:
            column.justify = "right"
        for row in rows:
            if row.work == work:
                ratio = "-" if row.ratio_to_c is None else f"{row.ratio_to_c:.2f}"
                table.add_row(row.name, spoken(row.seconds), f"{row.rate:,.0f}", ratio)
        Console().print(work, table, highlight=False)


def remark(line: str) -> None:
    """Print a remark of a race to stderr, so that --json stays one object a line."""
    sys.stderr.write(line + "\n")


def spoken(seconds: float) -> str:
    """Return a duration of a race with three digits and a unit."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def c_library(source: Path) -> ctypes.CDLL | None:
    """Compile a C file for this machine in a temporary folder, and load it.

    Returns None, with a remark, if there is no compiler or it fails.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        remark(f"no C compiler found: {source.name} is skipped")
        return None
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / f"{source.stem}.so"
        # Without -ffp-contract=off the compiler fuses x*x + y*y, and links at the radius differ.
        flags = ["-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC"]
        command = [compiler, *flags, "-o", str(library), str(source), "-lm"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            reason = (done.stderr.splitlines() or ["unknown reason"])[0]
            remark(f"{compiler} fails: {source.name} is skipped ({reason})")
            return None
        return ctypes.CDLL(str(library))  # stays loaded when the file is removed
