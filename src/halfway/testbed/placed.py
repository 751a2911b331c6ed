"""The positions of real nodes on the air, for a system whose nodes must know them."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from halfway.core.options import Value
from halfway.live.systems.live_systems import uses_position
from halfway.live.systems.positions import Position
from halfway.problem import Problem
from halfway.world.graphs.common_reach import common_reach
from halfway.world.graphs.network import Network

_MOST, _LEAST = 1e6, 1e-6  # of a length in the unit of the positions


class Placed(NamedTuple):
    """The places of real nodes on the air: options with the reach and the area, and the position
    of each node, or none.
    """

    options: Mapping[str, Value]
    positions: Sequence[Position]


def placed(system: str, options: Mapping[str, Value], start: Network, is_moving: bool) -> Placed:
    """Return the places of real nodes at the positions of the scenario. Raises Problem for a
    network without positions, or whose nodes move.
    """
    if not uses_position(system):
        return Placed(options, ())
    position = start.position
    if position is None or is_moving:
        what = f"network: expected fixed positions for nodes of {system} on the air"
        raise Problem(what, remedy="choose a static network with positions")
    low, high = position.min(axis=0).tolist(), position.max(axis=0).tolist()
    if min(low) >= 0.0 and max(high) <= 1.0:  # as a simulation has it
        low, high = [0.0, 0.0], [1.0, 1.0]
    area: dict[str, Value] = {
        "reach": min(common_reach(start), _MOST),
        "area_x": low[0],
        "area_y": low[1],
        "area_width": max(high[0] - low[0], _LEAST),
        "area_height": max(high[1] - low[1], _LEAST),
    }
    return Placed({**options, **area}, [(x, y) for x, y in position.tolist()])
