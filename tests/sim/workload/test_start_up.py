"""What applications say at the start reaches their nodes, whenever these are there."""

import numpy as np

from halfway.adapters.interface import commands
from halfway.sim.engine.changes import LINK_DOWN, NODE_DOWN, NODE_UP, changes, none
from halfway.sim.workload.start_up import StartUp

DOWN, UP = NODE_DOWN, NODE_UP


def test_a_letter_to_a_node_that_is_away_comes_when_it_is_back() -> None:
    """Row 0 is missing at first; 1 is away twice, at its letter's time and when it comes again."""
    said = commands([0.0, 2.0, 2.0, 2.0, 9.0], [0, 0, 1, 2, 3], 1, [10, 11, 12, 13, 14])
    start_up_commands = StartUp(said, np.array([0], np.int32))
    turns = [
        (1.0, DOWN, 1), (1.0, LINK_DOWN, 3), (1.5, UP, 0), (2.5, DOWN, 2), (3.0, UP, 1),
        (3.9, DOWN, 1), (4.0, DOWN, 3), (5.0, UP, 2), (5.0, UP, 1), (7.0, UP, 3), (8.0, DOWN, 3),
    ]  # fmt: skip
    window = changes(*zip(*((t, kind, a, -1) for t, kind, a in turns), strict=True))
    again = [
        (float(some.at[k]), int(some.row[k]), int(some.topic[k]))
        for happens in (window, none(), changes([11.0], [UP], [3], [-1]))
        for some in start_up_commands.again(happens)
        for k in range(len(some.at))
    ]
    assert again == [(1.5, 0, 10), (4.0, 1, 12), (4.0 + 1.1, 1, 12), (9.0 + 3.0, 3, 14)]
    assert said.at.tolist() == [0.0, 2.0, 2.0, 2.0, 9.0]
