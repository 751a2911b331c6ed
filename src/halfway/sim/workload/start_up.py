"""The start-up commands of a run, which are sent again to nodes that were down when a command was
due.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from halfway.adapters.commands import Commands, part
from halfway.sim.engine.changes import Changes
from halfway.world.outages import LOST, NODE_DOWN, NODE_UP


class StartUp:
    """The start-up commands of a run, which are lost and sent again later if their node is down.

    A command is delayed by the downtime of its node, because some commands must follow the start of
    their node after a pause. If a node comes back without its memory, the application sends its
    commands again, with the same pauses.
    """

    def __init__(self, commands: Commands, initially_down: npt.NDArray[np.int32]) -> None:
        self._commands = commands._replace(at=commands.at.copy())
        self._last = float(commands.at.max(initial=-np.inf))
        self._down_since = {int(row): 0.0 for row in initially_down}

    def repeat(self, changes: Changes) -> Iterator[Commands]:
        """Yield the lost start-up commands of nodes that come up in a window, in order of time."""
        commands = self._commands
        emptied = (changes.kind == NODE_UP) & (changes.b == LOST)
        late = not self._down_since and changes.t.min(initial=np.inf) > self._last
        if late and not emptied.any():
            return
        for k in np.flatnonzero(changes.kind <= NODE_UP):
            row, t = int(changes.a[k]), float(changes.t[k])
            if changes.kind[k] == NODE_DOWN:
                self._down_since.setdefault(row, t)
                continue
            since = self._down_since.pop(row, t)
            if emptied[k]:
                yield from self._again(row, t)
                continue
            if since > self._last:
                continue
            lost = (commands.row == row) & (commands.at >= since) & (commands.at < t)
            if lost.any():
                # Not `+= t - since`: rounded, a command could be due while the node is still down.
                commands.at[lost] = t + (commands.at[lost] - since)
                self._last = max(self._last, float(commands.at[lost].max()))
                yield part(commands, lost)

    def _again(self, row: int, t: float) -> Iterator[Commands]:
        """Yield the start-up commands of a row from time t on, except the commands that are still
        due.
        """
        commands = self._commands
        due = (commands.row == row) & (commands.at < t)
        if due.any():
            commands.at[due] = t + (commands.at[due] - commands.at[due].min())
            self._last = max(self._last, float(commands.at[due].max()))
            yield part(commands, due)
