"""Single failures on real topologies: with the remedies only the underlay's cuts remain."""

from pathlib import Path

import numpy as np
import pytest

from halfway.bulk.broker_trees.broker_overlay import Overlay, Rules
from halfway.bulk.broker_trees.join import join
from halfway.bulk.broker_trees.single_failures import causes, single_failures
from halfway.world.importers.underlay_file import read_underlay

FILES = (
    "topology_zoo/GtsCe.graphml",
    "topology_zoo/Cogentco.graphml",
    "topology_zoo/TataNld.graphml",
    "topology_zoo/UsCarrier.graphml",
    "topology_zoo/Kdl.graphml",
)


@pytest.mark.parametrize("name", FILES)
def test_no_loss_is_due_to_a_missing_path_that_exists(data: Path, name: str) -> None:
    underlay = read_underlay(data / name, largest=True)
    overlay = Overlay(underlay, Rules())
    rows = np.random.default_rng(1).choice(underlay.network.n, 30, replace=False)
    for row in rows:
        join(overlay, int(row))
    failures = single_failures(overlay)
    why = causes(overlay, failures)
    assert sum(why.values()) == failures.lost.sum() == len(failures.broker)
    assert why["no second path"] == why["no path past the parent"] == 0
    assert why["the underlay is cut"] > 0  # none of these has a second path everywhere
