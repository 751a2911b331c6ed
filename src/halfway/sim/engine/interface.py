"""The doors to a radio: what it does with a record on the air, chosen at compile time by its type.

A radio is a NamedTuple; the file that implements one declares it here. Its three functions:

depart(engine, radio, reach, slot): a record's delay is over and it is for somebody else. The radio
    sees to it that the slot comes up in the queue when something is to be done about it.
arrive(engine, radio, reach, slot, cursor): the slot came up (FRESH), or is asked again after a
    delivery with the cursor that it gave. Gives (row, cursor): the next row that hears the record
    now, and where to go on, or LAST if there is nobody else; instead of a row DONE when the slot is
    free, QUEUED when it comes up once more (or the radio keeps it in a line of its own).
changed(engine, radio, reach, kind, a, b, at): the world changed at that time (seconds), after the
    engine has taken note.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

DONE, QUEUED = np.int64(-1), np.int64(-2)
FRESH, LAST = np.int64(-1), np.int64(-2)

_DEPART: dict[type, Any] = {}
_ARRIVE: dict[type, Any] = {}
_CHANGED: dict[type, Any] = {}


def declare(
    radio: type,
    depart: Callable[..., None],
    arrive: Callable[..., Any],
    changed: Callable[..., None],
) -> None:
    """Say how a type of radio works; all three are compiled functions."""
    _DEPART[radio], _ARRIVE[radio], _CHANGED[radio] = depart, arrive, changed


def depart(engine: Any, radio: Any, reach: Any, slot: int) -> None:
    """Put the record in that slot on the air."""
    _DEPART[type(radio)](engine, radio, reach, slot)


def arrive(engine: Any, radio: Any, reach: Any, slot: int, cursor: Any) -> Any:
    """The next row that hears the record in that slot, or DONE or QUEUED; and the cursor."""
    return _ARRIVE[type(radio)](engine, radio, reach, slot, cursor)


def changed(engine: Any, radio: Any, reach: Any, kind: int, a: int, b: int, at: float) -> None:
    """Let the radio know of a change of the world."""
    _CHANGED[type(radio)](engine, radio, reach, kind, a, b, at)


@overload(depart, jit_options={"forceinline": True})
def _depart(engine, radio, reach, slot):
    way = _DEPART[radio.instance_class]
    return lambda engine, radio, reach, slot: way(engine, radio, reach, slot)


@overload(arrive, jit_options={"forceinline": True})
def _arrive(engine, radio, reach, slot, cursor):
    way = _ARRIVE[radio.instance_class]
    return lambda engine, radio, reach, slot, cursor: way(engine, radio, reach, slot, cursor)


@overload(changed, jit_options={"forceinline": True})
def _changed(engine, radio, reach, kind, a, b, at):
    way = _CHANGED[radio.instance_class]
    return lambda engine, radio, reach, kind, a, b, at: way(engine, radio, reach, kind, a, b, at)
