"""The interface between the engine and a radio: three functions, which the type of the radio
selects.

A radio is a NamedTuple; the module that defines it declares its functions here. Compiled code calls
them directly:

depart(engine, radio, reach, slot): the delay of a record to other nodes is over. The radio queues
    the slot for the time of its next step.
arrive(engine, radio, reach, slot, cursor, most): the slot is due (FRESH), or the delivery that
    returned this cursor is done. The function writes at most `most` rows that receive the record
    now into `engine.receivers`, and counts their receptions. It returns (count, cursor): the number
    of these rows, and the place to continue, or LAST if no further row follows. The engine delivers
    the record to all these rows by one call. Instead of a count DONE means that the slot
    is free, QUEUED that the slot will be due again (or that the radio keeps it in its own queue).
changed(engine, radio, reach, kind, a, b, at): the world changed at that time (seconds), and the
    engine has applied the change.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from halfway.core.compiler import reach
from halfway.core.compiler.by_type import chosen_by_type

DONE, QUEUED = np.int64(-1), np.int64(-2)
FRESH, LAST = np.int64(-1), np.int64(-2)
LOSSES = 0x1055  # the random stream of losses, equal in all radios

_DEPART: dict[type, Any] = {}
_ARRIVE: dict[type, Any] = {}
_CHANGED: dict[type, Any] = {}


def declare(
    radio: type,
    depart: Callable[..., None],
    arrive: Callable[..., Any],
    changed: Callable[..., None],
) -> None:
    """Declare a radio type to the engine with its three compiled functions."""
    _DEPART[radio], _ARRIVE[radio], _CHANGED[radio] = depart, arrive, changed
    for function in (depart, arrive, changed):
        reach.extend(radio.__module__, function.__module__)


def depart(engine: Any, radio: Any, reach: Any, slot: int) -> None:
    """Transmit the record in a slot by the function `depart` of the radio."""
    _DEPART[type(radio)](engine, radio, reach, slot)


def arrive(engine: Any, radio: Any, reach: Any, slot: Any, cursor: Any, most: Any) -> Any:
    """Return the number of the next receivers by the function `arrive` of the radio, or DONE or
    QUEUED, and the cursor.
    """
    return _ARRIVE[type(radio)](engine, radio, reach, slot, cursor, most)


def changed(engine: Any, radio: Any, reach: Any, kind: int, a: int, b: int, at: float) -> None:
    """Notify a radio of a change of the world by its function `changed`."""
    _CHANGED[type(radio)](engine, radio, reach, kind, a, b, at)


chosen_by_type(depart, 1, _DEPART)
chosen_by_type(arrive, 1, _ARRIVE)
chosen_by_type(changed, 1, _CHANGED)
