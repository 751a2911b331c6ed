"""The memory of simulated nodes: a node that loses its memory begins again with the state of a new
node.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.adapters.interface import SystemInstance
from halfway.core.prng import random_states

_REDRAWN = "random_state"


class BlankMemory:
    """The blank memory of all nodes of a run: a copy of their state before the first record.

    own_rows: see `SystemInstance.own_rows`, which is for `state`.
    """

    def __init__(self, state: Any, own_rows: Callable[[Any, str, int], slice]) -> None:
        self._state, self._own_rows = state, own_rows
        self._arrays = [(name, of, of.copy()) for name, of in named_arrays(state)]

    def clear(self, row: int, incarnation: int) -> None:
        """Replace a node's memory by a blank memory, and draw random numbers for the new
        incarnation.
        """
        for name, array, blank in self._arrays:
            own = self._own_rows(self._state, name, row)
            array[own] = blank[own]
            if name.rpartition(".")[2] == _REDRAWN:
                word = np.array([incarnation], np.int32)
                array[own] = [random_states(word, int(old))[0] for old in blank[own]]


class VolatileMemory:
    """The memory that the nodes of a run lose, and the shortfalls that they counted in it.

    forget: empties what a row knows of its neighbours, for a new incarnation. is_lost: whether
    nodes of the run lose their memory.
    """

    def __init__(
        self, instance: SystemInstance, forget: Callable[[int, int], None], is_lost: bool
    ) -> None:
        self._instance, self._forget = instance, forget
        self._blank = BlankMemory(instance.state if is_lost else (), instance.own_rows)
        self._earlier: Counter[str] = Counter()

    def lose(self, row: int, incarnation: int) -> None:
        """Empty the volatile memory of a node for a new incarnation, and keep the run's
        shortfalls.
        """
        before = Counter(self._instance.all_shortfalls())
        self._blank.clear(row, incarnation)
        self._forget(row, incarnation)
        before.subtract(self._instance.all_shortfalls())
        self._earlier += before

    def shortfalls(self) -> Mapping[str, int]:
        """Return the shortfalls of the run, with those that nodes counted in memory that they
        lost.
        """
        return self._earlier + Counter(self._instance.all_shortfalls())


def named_arrays(state: Any, within: str = "") -> Iterator[tuple[str, npt.NDArray[Any]]]:
    """Yield every array of a node's memory with its name; a nested tuple gives "part.name"."""
    for name, part in zip(getattr(state, "_fields", ()), state, strict=True):
        if isinstance(part, tuple):
            yield from named_arrays(part, f"{within}{name}.")
        else:
            yield within + name, part
