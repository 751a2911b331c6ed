"""The plan of a sweep: one row per run, with a key over all that determines the result of the run.
The module does not use Spark.
"""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from halfway.core.values.digest import short_digest
from halfway.package import __version__
from halfway.pipeline.plan.provenance import code_digest
from halfway.pipeline.plan.run import Point, Scalar

ROOT_SEED = 2013  # the year of the first paper
RUN = [  # the columns that a plan and its results share
    ("key", pa.string()),  # 32 hex digits
    ("measurement", pa.string()),  # "package.module:function"
    ("parameters", pa.string()),  # canonical JSON
    ("replicate", pa.int32()),
    ("network_seed", pa.int64()),  # the bits of a u64, as Spark has no unsigned types
    ("workload_seed", pa.int64()),
    ("random_seed", pa.int64()),
    ("version", pa.string()),
]
# network: 16 hex digits, equal for runs on the same network
SCHEMA = pa.schema([*RUN, ("network", pa.string()), ("cost_ms", pa.float64())])


def plan(points: Sequence[Point], replicates: int, seed: int = ROOT_SEED) -> pa.Table:
    """Plan a sweep: points x replicates, in `SCHEMA`; a point given twice is planned once.

    Seeds of networks and workloads depend on (seed, network parameters, replicate) only, so points
    that differ otherwise have the same networks and pairs. `random_seed` depends on all parameters.
    More replicates extend a plan and never change its first rows.
    Raises ValueError if two points differ only in their declared network parameters.
    """
    codes = {path: code_digest(path) for path in {point.measurement for point in points}}
    seeds: dict[str, list[npt.NDArray[np.int64]]] = {}
    homes: dict[str, list[str]] = {}
    parts: dict[tuple[str, str], pa.Table] = {}  # of each point, as Python's rows need 1 kB each
    networks: dict[tuple[str, str], tuple[str, ...]] = {}
    for point in points:
        parameters = canonical(point.parameters)
        named = networks.setdefault((point.measurement, parameters), tuple(sorted(point.network)))
        if named != tuple(sorted(point.network)):
            raise ValueError(f"{parameters} is declared with networks {named} and {point.network}")
        place = canonical({name: point.parameters[name] for name in named})
        if place not in seeds:
            axes = ("network", "workload")
            seeds[place] = [_seeds(seed, axis, place, replicates) for axis in axes]
        network, workload = seeds[place]
        what = f"{point.measurement}\n{parameters}"
        # The label "dice" is part of the entropy: another one would change every published run.
        random = _seeds(seed, "dice", what, replicates)
        if place not in homes:
            numbered = enumerate(network.tolist())
            homes[place] = [_home(f"{place}\n{i}\n{own}") for i, own in numbered]
        parts[point.measurement, parameters] = _rows(
            point, codes[point.measurement], (network, workload, random), homes[place]
        )
    return pa.concat_tables([SCHEMA.empty_table(), *parts.values()]).combine_chunks()


def _rows(
    point: Point, code: str, seeds: Sequence[npt.NDArray[np.int64]], homes: Sequence[str]
) -> pa.Table:
    """Return the plan rows of a point.

    seeds: of networks, workloads and random numbers, [replicates].
    """
    parameters, count = canonical(point.parameters), len(homes)
    runs = zip(range(count), *(column.tolist() for column in seeds), strict=True)
    columns = [
        [key_of(point.measurement, parameters, run, code) for run in runs],
        [point.measurement] * count,
        [parameters] * count,
        range(count),
        *seeds,
        [__version__] * count,
        homes,
        [point.cost_ms] * count,
    ]
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], SCHEMA)


def _home(words: str) -> str:
    """Return the digest of a network in the plan of a sweep."""
    return short_digest(words)


def key_of(measurement: str, parameters: str, run: tuple[int, ...], code: str) -> str:
    """Return the key in a plan's row: 32 hex digits over all that determines the result of the run.

    parameters: canonical JSON; run: replicate and the network, workload and random seeds as
    signed words; code: `code_digest` of the measurement.
    """
    content = f"{measurement}\n{parameters}\n{code}{run!r}"
    return hashlib.sha256(content.encode()).hexdigest()[:32]


def together(plans: Sequence[pa.Table]) -> pa.Table:
    """Return several plans of sweeps as one plan; a run that occurs in two plans occurs once."""
    table = pa.concat_tables([SCHEMA.empty_table(), *plans])
    _, first = np.unique(table["key"].to_numpy(), return_index=True)
    return table.take(np.sort(first))


def canonical(parameters: Mapping[str, Scalar]) -> str:
    """Return the parameters in a plan's row as canonical JSON with sorted names: equal parameters
    give equal text.
    """
    return msgspec.json.encode(dict(parameters), order="deterministic").decode()


def _seeds(seed: int, axis: str, which: str, count: int) -> npt.NDArray[np.int64]:
    """Return [count]: independent seeds of a plan's replicates, where the first seeds do not depend
    on `count`.
    """
    digest = hashlib.sha256(f"{seed}\n{axis}\n{which}".encode()).digest()
    entropy = [int(word) for word in np.frombuffer(digest, "<u4")]
    return np.random.SeedSequence(entropy).generate_state(count, np.uint64).view(np.int64)
