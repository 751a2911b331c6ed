"""The node ids of a run: a map between the rows of the simulator and the ids of its nodes."""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.problem import Problem

Int32s = npt.NDArray[np.int32]


class NodeIds:
    """The ids of a run's nodes by row, which are distinct numbers of 31 bits, and the rows by id.

    of [n]: the id of each row; None: the row itself. Raises Problem for ids that do not fit.
    """

    def __init__(self, n: int, of: npt.ArrayLike | None = None) -> None:
        self.of: Int32s = np.arange(n, dtype=np.int32)
        if of is not None:
            ids = np.asarray(of)
            if ids.shape != (n,) or len(np.unique(ids)) < n:
                raise Problem(f"node_ids: expected {n} distinct ids, one for each node")
            if n and (ids.min() < 0 or ids.max() >= 2**31):
                raise Problem("node_ids: expected ids from 0 to 2^31 - 1")
            self.of = ids.astype(np.int32)
        self.by_id: Int32s = np.argsort(self.of, kind="stable").astype(np.int32)

    @property
    def are_rows(self) -> bool:
        """Whether the id of every node is its row."""
        return bool((self.of == np.arange(len(self.of))).all())

    def rows_of(self, ids: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
        """Return the row of each node id, or -1 for a number that is not a node's id."""
        if not len(self.of):
            return np.full(len(ids), -1, np.int64)
        place = np.searchsorted(self.of, ids, sorter=self.by_id)
        row = self.by_id[np.minimum(place, len(self.of) - 1)].astype(np.int64)
        return np.where(self.of[row] == ids, row, -1)


@inlined
def id_of(engine, row):
    """Return the node id of a row, from the map of ids in the engine's state."""
    return np.int32(row) if engine.node_id.shape[0] == 0 else engine.node_id[row]


@inlined
def row_of(engine, node_id):
    """Return the row of a node id, from the map of ids in the engine's state, or -1 for an unknown
    id.
    """
    n = engine.node_id.shape[0]
    if n == 0:
        known = 0 <= node_id < engine.incarnation.shape[0]
        return np.int64(node_id) if known else np.int64(-1)
    first, last = 0, n
    while first < last:
        middle = (first + last) >> 1
        if engine.node_id[engine.by_id[middle]] < node_id:
            first = middle + 1
        else:
            last = middle
    if first < n and engine.node_id[engine.by_id[first]] == node_id:
        return np.int64(engine.by_id[first])
    return np.int64(-1)
