"""What event windows have as received, for tests."""

import numpy as np

from halfway.core.missing import NONE
from halfway.protocols.parts.event_window import WINDOW, EventWindows


def received(windows: EventWindows) -> set[tuple[int, int]]:
    """(row, event) of every event that the windows of any publisher have as received."""
    found = set()
    used = np.argwhere(windows.of["publisher"] != NONE)
    columns = (windows.of[name][tuple(used.T)].tolist() for name in ("bits", "newest"))
    for (row, _), bits, newest in zip(used.tolist(), *columns, strict=True):
        found |= {(row, newest - behind) for behind in range(WINDOW) if bits >> behind & 1}
    return found


def rows_with(windows: EventWindows, event: int = 0) -> list[int]:
    """The rows, ascending, whose windows have an event of that number as received."""
    return sorted(row for row, one in received(windows) if one == event)
