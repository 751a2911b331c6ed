"""The tasks of a sweep: the plan's rows in the order of networks, their kinds, and their division
into tasks of similar cost.
"""

from collections.abc import Sequence

import msgspec
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from halfway.pipeline.plan.sweep_plan import canonical

_LEAST_S, _MOST_S = 0.3, 2.0  # of a task
_NAMING = ("measurement", "parameters")  # the columns that name a run's point


def kinds(plan: pa.Table) -> list[str]:
    """Return [rows]: the kind of the run in each of a plan's rows, as one string: its measurement,
    and its text and boolean parameters.

    Runs of one kind use the same kernels, and their declared costs have a similar error.
    """
    names, numbers = numbered_kinds(plan)
    return [names[number] for number in numbers.tolist()]


def numbered_kinds(plan: pa.Table) -> tuple[list[str], npt.NDArray[np.int64]]:
    """Return the kinds of the runs in a plan's rows, and [rows] the number of each row's kind."""
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
    """Return [rows]: the number of the task, 0, 1, …, of each of a plan's rows; the costs of the
    tasks are as `sizes` (see `guided`).

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


def guided(seconds: float, workers: int) -> list[float]:
    """Return the sizes of a plan's tasks, which sum to `seconds`, by guided self-scheduling.

    Large tasks come first, as each has an overhead of about 50 ms; small tasks come last, so that
    no worker waits long for another worker.
    """
    sizes: list[float] = []
    left = seconds
    while left > 0:
        size = min(max(left / (2 * workers), _LEAST_S), _MOST_S, left)
        sizes.append(size)
        left = left - size if left - size > _LEAST_S / 2 else 0.0
    return sizes or [1.0]


def by_network(plan: pa.Table) -> pa.Table:
    """Return the plan's rows in the order for tasks: by replicate, the rows of a network in
    sequence.

    Every consecutive range is then a fair sample of the costs of a sweep.
    """
    # Numbers in the order in which the networks occur first.
    group = np.asarray(plan["network"].combine_chunks().dictionary_encode().indices)
    return plan.take(np.lexsort((group, plan["replicate"].to_numpy())))
