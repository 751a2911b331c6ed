"""The node table of a run: the load, bytes, energy and notifications of each node, by the node's
name.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Reals = npt.NDArray[np.float64]
COLUMNS = ("node", "x", "y", "sent", "received", "bytes_sent", "bytes_received", "energy_j",
           "up_s", "expected", "delivered", "lost")  # fmt: skip


class NodeTable(NamedTuple):
    """The node table of a run, with one row per node: messages, bytes, joules, seconds,
    notifications.
    """

    name: Sequence[str]
    position: Reals | None  # [n, 2]; None where unknown, or where nodes move
    sent: Longs
    received: Longs
    bytes_sent: Longs
    bytes_received: Longs
    energy_j: Reals
    up_s: Reals
    expected: Longs  # notifications of the node's application
    delivered: Longs

    @property
    def load(self) -> Longs:
        """The load of each node in the node table: messages sent and received."""
        return self.sent + self.received

    @property
    def lost(self) -> Longs:
        """The expected notifications that each node in the node table did not receive."""
        return self.expected - self.delivered

    def by_load(self) -> list[int]:
        """Return the row numbers of the node table, the largest load first."""
        return [int(row) for row in np.argsort(-self.load, kind="stable")]

    def rows(self) -> Iterator[dict[str, object]]:
        """Yield the rows of the node table, with the keys COLUMNS, in the network's order."""
        for row, name in enumerate(self.name):
            x, y = (None, None) if self.position is None else self.position[row].tolist()
            values = (
                name, x, y, int(self.sent[row]), int(self.received[row]),
                int(self.bytes_sent[row]), int(self.bytes_received[row]),
                float(self.energy_j[row]), float(self.up_s[row]), int(self.expected[row]),
                int(self.delivered[row]), int(self.lost[row]),
            )  # fmt: skip
            yield dict(zip(COLUMNS, values, strict=True))
