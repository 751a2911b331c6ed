"""The plan of a sweep: one row per run, with a key over all that determines the result of the run.
The module does not use Spark.
"""

import hashlib
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

import halfway
from halfway.core.values.digest import short_digest
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
_NAMING = ("measurement", "parameters")  # the columns that name a run's point
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
        [point.measurement] * count, [parameters] * count, range(count), *seeds,
        [halfway.__version__] * count, homes, [point.cost_ms] * count,
    ]  # fmt: skip
    return pa.table([pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)], SCHEMA)


def _home(words: str) -> str:
    """Return the digest of a network in the plan of a sweep."""
    return short_digest(words)


def key_of(measurement: str, parameters: str, run: tuple[int, ...], code: str) -> str:
    """Return the key of a planned run: 32 hex digits over all that determines its result.

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
    """Return a plan's parameters as JSON with sorted names: equal parameters give equal text."""
    return msgspec.json.encode(dict(parameters), order="deterministic").decode()


def kinds(plan: pa.Table) -> list[str]:
    """Return [rows]: the kind of each plan row, its measurement and its text and boolean parameters
    as one string.

    Runs of one kind use the same kernels, and their declared costs have a similar error.
    """
    names, numbers = numbered_kinds(plan)
    return [names[number] for number in numbers.tolist()]


def numbered_kinds(plan: pa.Table) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the kinds of a plan's rows, and [rows] the number of each row's kind."""
    words = [plan[name].combine_chunks().dictionary_encode() for name in _NAMING]
    first, second = (np.asarray(column.indices, np.int64) for column in words)
    width = max(1, len(words[1].dictionary))
    pairs, which = np.unique(first * width + second, return_inverse=True)
    names: dict[str, int] = {}
    numbers = np.zeros(len(pairs), np.int64)
    for at, pair in enumerate(pairs.tolist()):
        measurement = words[0].dictionary[pair // width].as_py()
        parameters = msgspec.json.decode(words[1].dictionary[pair % width].as_py()).items()
        kept = {name: value for name, value in parameters if isinstance(value, str | bool)}
        numbers[at] = names.setdefault(f"{measurement} {canonical(kept)}", len(names))
    return list(names), numbers[which]


def tasks(plan: pa.Table, sizes: Sequence[float]) -> npt.NDArray[np.int32]:
    """Return [rows]: task numbers 0, 1, … of a plan's rows, their costs as `sizes` (see `guided`).

    Runs on one network stay in one task if its cost allows, as a worker keeps its last network.
    The rows must be in the order of `by_network`. A task may have no rows.
    """
    if not plan.num_rows:
        return np.zeros(0, np.int32)
    cost = np.maximum(plan["cost_ms"].to_numpy(), 1e-3)
    network = plan["network"].to_numpy()
    group = np.cumsum(np.concatenate([[False], network[1:] != network[:-1]]))
    middle = np.cumsum(cost) - cost / 2
    bounds = np.cumsum(sizes) / np.sum(sizes) * cost.sum()
    # A light group goes to the task of its middle as one piece; a heavy one is cut by rows.
    weight = np.bincount(group, cost)
    of_group = np.bincount(group, middle * cost) / weight
    home = np.searchsorted(bounds[:-1], of_group, "right")
    light = weight <= np.diff(bounds, prepend=0.0)[home]
    at = np.where(light[group], of_group[group], middle)
    task = np.searchsorted(bounds[:-1], at, "right")
    return np.maximum.accumulate(task).astype(np.int32)


def guided(seconds: float, workers: int, least: float = 0.3, most: float = 2.0) -> list[float]:
    """Return the sizes of a plan's tasks, which sum to `seconds`, by guided self-scheduling.

    Large tasks come first, as each has an overhead of about 50 ms; small tasks come last, so that
    no worker waits long for another worker.
    """
    sizes: list[float] = []
    left = seconds
    while left > 0:
        size = min(max(left / (2 * workers), least), most, left)
        sizes.append(size)
        left = left - size if left - size > least / 2 else 0.0
    return sizes or [1.0]


def by_network(plan: pa.Table) -> pa.Table:
    """Return the plan's rows ordered by replicate, the rows of a network in sequence.

    Every consecutive range is then a fair sample of the costs of a sweep.
    """
    # Numbers in the order in which the networks occur first.
    group = np.asarray(plan["network"].combine_chunks().dictionary_encode().indices)
    return plan.take(np.lexsort((group, plan["replicate"].to_numpy())))


def _seeds(seed: int, axis: str, which: str, count: int) -> npt.NDArray[np.int64]:
    """Return [count]: independent seeds of a plan's replicates, where the first seeds do not depend
    on `count`.
    """
    digest = hashlib.sha256(f"{seed}\n{axis}\n{which}".encode()).digest()
    entropy = [int(word) for word in np.frombuffer(digest, "<u4")]
    return np.random.SeedSequence(entropy).generate_state(count, np.uint64).view(np.int64)
