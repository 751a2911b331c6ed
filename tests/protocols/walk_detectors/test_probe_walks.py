"""Single rules of the walk-probe detector."""

import numpy as np

from halfway.core.missing import NONE
from halfway.core.neighbourhood import Neighbourhood
from halfway.core.outbox import outbox
from halfway.protocols.walk_detectors import probe_walks, walk_probe
from halfway.protocols.walk_detectors.probe_walks import STEP
from tests.interpreted import uncompiled

WALKS = 2000


def test_the_first_step_of_a_probe_goes_to_each_neighbour_equally_often() -> None:
    """[drw Fig. 3, line 1] The first step is uniform among the neighbours."""
    rules = walk_probe.rules({name: one.default for name, one in walk_probe.OPTIONS.items()})
    neighbours = np.array([2, 5, 7, 11], np.int32)
    near = Neighbourhood(
        np.zeros(1, np.uint32), np.full(1, 4, np.uint32), neighbours,
        np.full(4, NONE, np.int32), np.zeros(0), np.zeros(0),
    )  # fmt: skip
    state = walk_probe.state(np.array([1], np.int32), 4, 3, degree=4)
    first = dict.fromkeys(neighbours.tolist(), 0)
    launch = uncompiled(probe_walks.launch)
    for _ in range(WALKS):
        out = outbox(4)
        launch(state, rules, near, 0, out)
        step = out.pool[out.free[3]]
        assert step.kind == STEP
        first[int(step.next)] += 1
    expected = WALKS / 4
    assert all(abs(count - expected) < 5 * np.sqrt(expected) for count in first.values())
