"""The start-up commands of a run, which are sent again to nodes that were down when a command was
due.
"""

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from halfway.adapters.commands import Commands, part
from halfway.core.kinds import Kinds
from halfway.sim.engine.changes import Changes
from halfway.world.outages import LOST, NODE_DOWN, NODE_UP, is_turn


class StartUp:
    """The start-up commands of a run, which are lost and sent again later if their node is down.

    A command is delayed by the downtime of its node, because some commands must follow the start of
    their node after a pause. The end of a role has no pause. If a node comes back without its
    memory, the application sends its commands again, with the same pauses. It does not begin again
    what it has ended.
    """

    def __init__(
        self, commands: Commands, initially_down: npt.NDArray[np.int32], kinds: Kinds
    ) -> None:
        self._commands = commands._replace(at=commands.at.copy())
        self._begun_by = {kind.number: kinds.number(kind.ends) for kind in kinds if kind.ends}
        self._last = float(commands.at.max(initial=-np.inf))
        self._down_since = {int(row): 0.0 for row in initially_down}

    def repeat(self, changes: Changes) -> Iterator[Commands]:
        """Yield the lost start-up commands of nodes that come up in a window, in order of time."""
        emptied = (changes.kind == NODE_UP) & (changes.b == LOST)
        late = not self._down_since and changes.t.min(initial=np.inf) > self._last
        if late and not emptied.any():
            return
        for k in np.flatnonzero(is_turn(changes.kind)):
            row, t = int(changes.a[k]), float(changes.t[k])
            if changes.kind[k] == NODE_DOWN:
                self._down_since.setdefault(row, t)
                continue
            since = self._down_since.pop(row, t)
            if emptied[k]:
                yield from self._again(row, t)
            elif since <= self._last:
                yield from self._again(row, t, since)

    def _again(self, row: int, t: float, since: float | None = None) -> Iterator[Commands]:
        """Yield the start-up commands of a row that were due before t and are in force, from time t
        on.

        since: the time from which commands were lost, and their pauses count. None: all commands
        were lost, and their pauses count from the first one.
        """
        commands, at = self._commands, self._commands.at
        own = commands.row == row
        lost = own & (at <= t) & (at >= (-np.inf if since is None else since))
        due = self._in_force(lost) & (at < t)
        if not due.any():
            return
        first = float(at[due].min()) if since is None else since
        # As at time 0, the start event of the node comes first. Not `+= t - first`: rounded, a
        # command could be due while the node is still down.
        soonest = np.nextafter(t, np.inf)
        at[due] = np.maximum(t + (at[due] - first), soonest)
        self._hasten(due, own & ~due & (at > t), soonest)
        self._last = max(self._last, float(at[due].max()))
        yield part(commands, due)

    def _in_force(self, lost: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
        """Return the selected start-up commands without pairs of a command and its end."""
        kept = lost.copy()
        begun: dict[tuple[int, int, int], int] = {}
        rows = np.flatnonzero(lost)
        for k in rows[np.argsort(self._commands.at[rows], kind="stable")].tolist():
            before = begun.pop(self._what(k, ended=True), None)
            if before is not None:
                kept[[before, k]] = False
            begun[self._what(k)] = k
        return kept

    def _hasten(
        self, again: npt.NDArray[np.bool_], later: npt.NDArray[np.bool_], soonest: float
    ) -> None:
        """Take away the pause of a start-up command that is an end, or would come again after its
        own end.

        again, later: the selected commands of a node that are sent again, and those that are not
        due yet. soonest: the first time at which the node handles a command again.
        """
        at = self._commands.at
        ends = {self._what(k, ended=True): at[k] for k in np.flatnonzero(later).tolist()}
        for k in np.flatnonzero(again).tolist():
            is_end = int(self._commands.kind[k]) in self._begun_by
            if is_end or at[k] >= ends.get(self._what(k), np.inf):
                at[k] = soonest

    def _what(self, k: int, *, ended: bool = False) -> tuple[int, int, int]:
        """Return the key of start-up command k, or of the command that it ends."""
        commands = self._commands
        kind = int(commands.kind[k])
        kind = self._begun_by.get(kind, -1) if ended else kind
        return kind, int(commands.topic[k]), int(commands.argument[k])
