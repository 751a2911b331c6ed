"""Record kinds on the replay map: what each draws, from the protocol's own table of kinds.

A protocol without map roles is drawn as well: every record that names a published event carries it.
"""

import importlib
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.adapters.registry import TABLE
from halfway.core.kinds import Kinds, MapRole, Meets, Step
from halfway.sim.simulation import Simulation

Mask = npt.NDArray[np.bool_]


class MapKinds:
    """The record kinds of a protocol by their role on the replay map."""

    def __init__(self, kinds: Kinds, first_at: npt.NDArray[np.float64]) -> None:
        self._roles = {kind.number: kind.on_map for kind in kinds if kind.on_map is not None}
        self._first_at = first_at  # [events] when each was published; inf: left out
        self.delivered = kinds.number("delivered")
        roles = self._roles.items()
        self.steps = [(number, role) for number, role in roles if isinstance(role, Step)]
        self.meetings = [(number, role) for number, role in roles if isinstance(role, Meets)]

    def with_role(self, *roles: MapRole) -> list[int]:
        """Return the record kinds that have one of these roles on the replay map."""
        return [number for number, role in self._roles.items() if role in roles]

    def every_reception(self) -> list[int]:
        """Return the record kinds of which a map needs every reception: steps, meetings, links."""
        walks = [number for number, _ in (*self.steps, *self.meetings)]
        return [*walks, *self.with_role(MapRole.LINK, MapRole.CUT)]

    def carry(self, kind: npt.NDArray[Any], event: npt.NDArray[Any], t: npt.NDArray[Any]) -> Mask:
        """Return which received records of a replay (columns) carry an event one hop further.

        The kind of a record decides.

        In a protocol without map roles, all records do that name an event after its publication.
        """
        if self._roles:
            return np.isin(kind, self.with_role(MapRole.EVENT_HOP))
        known = (event >= 0) & (event < len(self._first_at))
        known[known] = t[known] >= self._first_at[event[known]]
        return np.asarray(known)


def protocol_of(run: Simulation) -> ModuleType:
    """Return the module of a replayed simulation's protocol; it may define MAP_PARENT and
    MAP_CELL_SIDE.
    """
    # A user system is one module, and its state is defined there.
    built_in = run.system in TABLE
    name = TABLE[run.system].module if built_in else type(run.instance.state).__module__
    return importlib.import_module(name)


def map_parent(protocol: ModuleType) -> str:
    """Return the name of the state's field with each row's parent for the replay map, or "".

    In the field, a number below 0 means no parent.
    """
    return str(getattr(protocol, "MAP_PARENT", ""))


def map_cell_side(protocol: ModuleType) -> str:
    """Return the field of a protocol's `Rules` that has the side of its cells, for the replay map;
    "" without cells.
    """
    return str(getattr(protocol, "MAP_CELL_SIDE", ""))
