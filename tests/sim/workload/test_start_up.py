"""Start-up commands reach their nodes as soon as these are up."""

import numpy as np

from halfway.adapters.commands import commands
from halfway.sim.engine.changes import changes, no_changes
from halfway.sim.workload.start_up import StartUp
from halfway.world.outages import LINK_DOWN, NODE_DOWN, NODE_UP

DOWN, UP = NODE_DOWN, NODE_UP


def test_a_command_to_a_node_that_is_down_is_repeated_when_it_is_up() -> None:
    """Row 0 is down at first; 1 is down twice, at its command's time and at the repetition."""
    given = commands([0.0, 2.0, 2.0, 2.0, 9.0], [0, 0, 1, 2, 3], 1, [10, 11, 12, 13, 14])
    start_up = StartUp(given, np.array([0], np.int32))
    turns = [
        (1.0, DOWN, 1), (1.0, LINK_DOWN, 3), (1.5, UP, 0), (2.5, DOWN, 2), (3.0, UP, 1),
        (3.9, DOWN, 1), (4.0, DOWN, 3), (5.0, UP, 2), (5.0, UP, 1), (7.0, UP, 3), (8.0, DOWN, 3),
    ]  # fmt: skip
    window = changes(*zip(*((t, kind, a, -1) for t, kind, a in turns), strict=True))
    repeated = [
        (float(some.at[k]), int(some.row[k]), int(some.topic[k]))
        for happens in (window, no_changes(), changes([11.0], [UP], [3], [-1]))
        for some in start_up.repeat(happens)
        for k in range(len(some.at))
    ]
    assert repeated == [(1.5, 0, 10), (4.0, 1, 12), (4.0 + 1.1, 1, 12), (9.0 + 3.0, 3, 14)]
    assert given.at.tolist() == [0.0, 2.0, 2.0, 2.0, 9.0]
