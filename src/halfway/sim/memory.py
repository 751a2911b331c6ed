"""The memory of simulated nodes: a node that loses its memory begins again with the state of a new
node.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.prng import random_states

_REDRAWN = "random_state"


class BlankMemory:
    """The blank memory of all nodes of a run: a copy of their state before the first record.

    own_rows: see `SystemInstance.own_rows`, which is for `state`.
    """

    def __init__(self, state: Any, own_rows: Callable[[Any, str, int], slice]) -> None:
        self._state, self._own_rows = state, own_rows
        self._arrays = [(name, of, of.copy()) for name, of in named_arrays(state)]

    def restore(self, row: int, incarnation: int) -> None:
        """Replace a node's memory by a blank memory, and draw random numbers for the new
        incarnation.
        """
        for name, array, blank in self._arrays:
            own = self._own_rows(self._state, name, row)
            array[own] = blank[own]
            if name.rpartition(".")[2] == _REDRAWN:
                word = np.array([incarnation], np.int32)
                array[own] = [random_states(word, int(old))[0] for old in blank[own]]


def named_arrays(state: Any, within: str = "") -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield every array of a node's memory with its name; a nested tuple gives "part.name"."""
    for name, part in zip(getattr(state, "_fields", ()), state, strict=True):
        if isinstance(part, tuple):
            yield from named_arrays(part, f"{within}{name}.")
        else:
            yield within + name, part
