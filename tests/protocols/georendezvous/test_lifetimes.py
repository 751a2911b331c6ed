"""The lifetimes of GeoRendezvous's entries: an entry ends a lifetime after its client renewed it,
whatever became of its records on the way."""

import pytest

from halfway.protocols.georendezvous.messages import INTEREST, REPLICATE
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.demand import Listed
from tests.networks import disk

LIFETIME_S, END_S = 12.0, 8.0  # the end of all subscriptions
ROWS = (0, 5, 9)


def transferring_run(seed: int) -> Simulation:
    """A run in which records of subscriptions are lost, and in which nodes lose members of their
    cells, and get new ones, until the subscriptions have expired."""
    periods = {(row, 0): (0.0, END_S) for row in ROWS}
    return Simulation(
        "georendezvous", disk(40, 0.4, seed=3), seed=seed, seconds=END_S + LIFETIME_S - 2.0,
        workload=Listed([*periods], [(4.0, 20, 0), (9.0, 21, 0)], periods=periods),
        radio=IdealRadio(delay_s=0.002, success=0.6), stretch=False,
        faults=[Crash(share=0.3, at=at, for_=1.0) for at in (9.0, 11.0, 13.0, 15.0, 17.0)],
        options={
            "points": 2, "tried": 2, "lifetime_s": LIFETIME_S, "renewal_interval_s": 5.0,
            "home_memory_s": 6.0, "retries": 6, "ack_timeout_s": 0.1,
        },
        inspection=Inspection(received_records=1 << 18),
    )  # fmt: skip


@pytest.mark.one_clock  # reads times in the state of nodes
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_no_transfer_prolongs_an_entry(seed: int) -> None:
    """Soft state: [geo §2.2] "Clients that fail to renew … are removed from the system"."""
    run = transferring_run(seed)
    run.run()
    records, _ = run.received_records()
    assert (records["at"][records["kind"] == REPLICATE] > END_S + 5.0).any()  # until the end
    store = run.state.store
    until = store.until[store.kind == INTEREST]
    assert until.max() > END_S + LIFETIME_S - 5.0  # some entry was there
    assert until.max() <= END_S + LIFETIME_S
