"""The shortfalls of a system: what its nodes forgot or gave up, because a table had no room, or
because there was no route.

A protocol's module may have a function `shortfalls`, from a state to counts by name. The simulator
and live nodes show these counts.
"""

from collections.abc import Mapping
from types import ModuleType
from typing import Any

from halfway.protocols.parts.event_window import TOO_OLD, EventWindows
from halfway.protocols.parts.hash_table import FORGOTTEN

# Shortfalls that several systems count.
WITHOUT_ROUTE, UNACKNOWLEDGED = "messages without a route", "unacknowledged hops"
FORGOTTEN_DEAF = "forgotten deaf neighbours"
FORGOTTEN_PUBLISHERS = "forgotten publishers"
# Each arrival counts, of a new event or of a copy: the window does not know which of them it was.
OLD_EVENTS = "events older than the window of their publisher"


def shortfalls_of(module: ModuleType, state: Any) -> dict[str, int]:
    """Return the shortfalls that a system's protocol, given as its module, counts in a state,
    without those of the event windows.
    """
    return dict(module.shortfalls(state)) if hasattr(module, "shortfalls") else {}


def shortfalls_of_windows(state: Any) -> Mapping[str, int]:
    """Return the shortfalls of all event windows in the state of a system: the publishers that were
    forgotten, and the events that were too old.
    """
    return {FORGOTTEN_PUBLISHERS: _counted(state, FORGOTTEN), OLD_EVENTS: _counted(state, TOO_OLD)}


def _counted(state: Any, column: int) -> int:
    """Return the sum of one count of the event windows in a state."""
    if isinstance(state, EventWindows):
        return int(state.counts[:, column].sum())
    return sum(_counted(part, column) for part in state if isinstance(part, tuple))
