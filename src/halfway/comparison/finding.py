"""From runs to cells, curves and the digest: what `Compared` holds of them. No files, no Spark."""

import hashlib
import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

import numpy as np

from halfway.comparison.estimates import cells_of, curve
from halfway.comparison.metrics import LATENCY, served_by
from halfway.comparison.results import Cell, Curve, Metric


class Ran(NamedTuple):
    """One run of a comparison."""

    point: int
    system: str
    replicate: int
    seed: int  # `halfway simulate --seed` of it is this very run
    status: str  # "ok" or "error"
    error: str
    digest: str
    observed: Mapping[str, tuple[float, ...]]  # metric -> values


def cells_of_runs(
    runs: Sequence[Ran], metrics: Sequence[Metric], baseline: str, replicates: int
) -> list[Cell]:
    """Every point x metric x system that ran, in that order; `runs` in order of point, system."""
    found: list[Cell] = []
    for point, mine in groupby(runs, key=lambda ran: ran.point):
        values = {}
        for system, some in groupby(mine, key=lambda ran: ran.system):
            by_metric = {metric.name: np.full(replicates, np.nan) for metric in metrics}
            for ran in some:
                for name, own in by_metric.items():
                    own[ran.replicate] = next(iter(ran.observed.get(name, ())), math.nan)
            values[system] = by_metric
        for metric in metrics:
            columns = {system: own[metric.name] for system, own in values.items()}
            share = served_by(metric.name)
            served = {system: own[share] for system, own in values.items()} if share else None
            found += cells_of(point, metric, columns, baseline, served)
    return found


def curves_of_runs(runs: Sequence[Ran]) -> Iterator[Curve]:
    """The latencies of each system at each point, where anything arrived."""
    for (point, system), some in groupby(runs, key=lambda ran: (ran.point, ran.system)):
        quantiles = curve([np.array(ran.observed.get(LATENCY, ())) for ran in some])
        if quantiles:
            yield Curve(point, system, quantiles)


def digest_of_runs(runs: Sequence[Ran]) -> str:
    """16 hex digits over what every run gave: equal wherever, and in how many parts, it was run.

    Unlike `pipeline.digest` it does not see where input files lie, nor the version of the code.
    """
    whole = hashlib.sha256()
    for ran in sorted(runs, key=lambda ran: (ran.point, ran.system, ran.replicate)):
        told = f"{ran.point} {ran.system} {ran.replicate} {ran.seed} {ran.status} {ran.digest}\n"
        whole.update(told.encode())
    return whole.hexdigest()[:16]
