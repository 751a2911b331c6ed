"""The memory of nodes: a node that loses it begins again with the state of a new node."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.prng import random_states

_REDRAWN = "random_state"


class BlankMemory:
    """The blank memory of all nodes of a run, copied before its first record.

    state: every array of it, and of the tuples in it, has one row for each node.
    """

    def __init__(self, state: Any) -> None:
        self._arrays = [(name, of, of.copy()) for name, of in _arrays(state)]

    def restore(self, row: int, incarnation: int) -> None:
        """Replace a node's memory by a blank one, with random numbers of its new incarnation."""
        for name, array, blank in self._arrays:
            array[row] = blank[row]
            if name == _REDRAWN:
                word = np.array([incarnation], np.int32)
                array[row] = random_states(word, int(blank[row]))[0]


def _arrays(state: Any) -> Iterator[tuple[str, npt.NDArray[Any]]]:
    for name, part in zip(getattr(state, "_fields", ()), state, strict=True):
        if isinstance(part, tuple):
            yield from _arrays(part)
        else:
            yield name, part
