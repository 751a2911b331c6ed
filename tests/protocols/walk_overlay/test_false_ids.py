"""False fragment ids in the walk overlay: a liar cannot start an endless exchange of records.

A node whose id wins answers a losing id. A liar that has a winning id itself answers too, but with
a random id, which loses again.
"""

import pytest

from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.attacks import Attack
from halfway.world.workload.demand import Listed
from tests.networks import disk

NODES = 30
STORMS = [(0, 5), (5, 6), (5, 30)]  # retries and seeds with 36,620 ids and more without the limit


@pytest.mark.parametrize(("retries", "seed"), STORMS)
def test_a_liar_gets_few_answers(retries: int, seed: int) -> None:
    demand = Listed(
        [(row, 0) for row in range(10)], [(15.0 + 0.5 * k, 20 + k % 5, 0) for k in range(20)]
    )
    found = Simulation(
        "walk-overlay", disk(NODES, 0.35, seed), workload=demand, seed=seed, seconds=30.0,
        radio=IdealRadio(), options={"retries": retries}, faults=[Attack(kind="liar", share=0.1)],
    ).run()  # fmt: skip
    assert 0 < found.sent["fragment-id"] < 1000
