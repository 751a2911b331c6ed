"""The analysis of gossip counters [van Renesse, Minsky & Hayden 1998], beside our handler.

The paper computes the probability that a counter has not reached all live members after a number of
rounds, P_mistake, for members that all know each other. Of n members, f have failed. In each round
one member gossips, and each member has one round in a period on average. With k members that have
the counter, a round adds one with the probability k/n · (n - f - k)/(n - 1) · P_arrival. So the
time until P_mistake is small grows as log n in periods, and as n log n where the bandwidth of a
member stays constant, because a gossip then has n counters.
"""

import numpy as np
import numpy.typing as npt
import pytest

from halfway.protocols.failure_detectors.counter_records import ENTRIES
from halfway.protocols.failure_detectors.gossip_counters import GOSSIP
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash
from halfway.world.workload.groups.monitoring import Monitoring
from tests.protocols.failure_detectors.runs import full

WARM_S, REST_S, DELAY_S = 30.0, 25.0, 0.002
PERIODS = 24
Floats = npt.NDArray[np.float64]


def p_mistake(n: int, failed: int = 0, arrival: float = 1.0) -> Floats:
    """[PERIODS]: the paper's probability that a counter lacks somewhere after so many periods."""
    live = n - failed
    have = np.arange(live + 1)
    grows = have / n * (live - have) / (n - 1) * arrival
    share, found = np.zeros(live + 1), np.zeros(PERIODS)
    share[1] = 1.0
    for each in range(PERIODS):
        for _ in range(n):
            more = share * grows
            share = share - more
            share[1:] += more[:-1]
        found[each] = 1.0 - share[live]
    return found


def spreads(n: int, failed: int = 0, arrival: float = 1.0, *, seeds: int = 2) -> Floats:
    """The periods until each counter, or a later one, has reached all live members."""
    return np.concatenate([_spreads(n, failed, arrival, seed) for seed in range(seeds)])


def _spreads(n: int, failed: int, arrival: float, seed: int) -> Floats:
    end_s, live = WARM_S + REST_S + 25.0, n - failed
    run = Simulation(
        "gossip-counters", full(n), workload=Monitoring(1.0), seconds=end_s, seed=seed,
        radio=IdealRadio(delay_s=DELAY_S, success=arrival), discovery_delay_s=np.inf,
        faults=[Crash(node=live + k, at=WARM_S - 10.0) for k in range(failed)], stretch=False,
        options={"members": n, "timeout_s": 1000.0}, inspection=Inspection(received_records=10**6),
    )  # fmt: skip
    run.run()
    records, rows = run.received_records()
    of_gossip = records["kind"] == GOSSIP
    records, rows = records[of_gossip], rows[of_gossip]
    members, counters = records["args"][:, :ENTRIES], records["reals"][:, :ENTRIES]
    found: list[float] = []
    for member in range(live):
        here = members == member
        some = here.any(axis=1)
        heard, at, row = counters[here].astype(np.int64), records["at"][some], rows[some]
        own = records["source"][some] == member
        for counter in np.unique(heard[own]):
            began = at[own & (heard == counter)].min() - DELAY_S
            if not WARM_S <= began <= end_s - REST_S:
                continue
            reached = np.full(n, np.inf)
            reached[member] = began
            later = heard >= counter
            np.minimum.at(reached, row[later], at[later])
            found.append(float(reached[:live].max() - began))
    return np.array(found)


@pytest.mark.parametrize(
    ("n", "failed", "arrival"), [(8, 0, 1.0), (32, 0, 1.0), (32, 6, 1.0), (32, 0, 0.8)]
)
def test_counters_spread_as_the_analysis_says_one_period_earlier(
    n: int, failed: int, arrival: float
) -> None:
    """The analysis is a bound: its first round belongs to any member, and ours to the owner."""
    measured, model = spreads(n, failed, arrival), p_mistake(n, failed, arrival)
    assert len(measured) > 300
    for periods in range(PERIODS):
        late = float((measured > periods + 1).mean())
        assert late <= model[periods] + 0.01, periods
    mean, expected = float(measured.mean()), 1.0 + float(model.sum())
    assert expected - 2.0 < mean < expected - 0.8


def test_the_periods_for_a_small_p_mistake_grow_as_log_n() -> None:
    """[van Renesse, Minsky & Hayden 1998] The detection time scales as log n in periods."""
    sizes = (8, 16, 32, 64)
    measured = [float(np.quantile(spreads(n), 0.9)) for n in sizes]
    model = [1 + int(np.argmax(p_mistake(n) < 0.1)) for n in sizes]
    assert model == [7, 9, 11, 12]
    growth = np.diff(measured)
    # Each doubling adds about as much, and less than the doubled time that n would need.
    assert (growth > 0.5).all()
    assert (growth < 2.5).all()
    assert measured[-1] < 0.3 * 8 * measured[0]


def test_a_tenth_of_the_mistakes_costs_few_further_periods() -> None:
    """P_mistake falls by a constant factor in each period, so certainty is cheap."""
    model = p_mistake(32)
    measured = spreads(32, seeds=4)
    for tail in (model[10:16], [float((measured > k).mean()) for k in (7, 8, 9, 10)]):
        factors = np.array(tail[1:]) / np.array(tail[:-1])
        assert (factors < 0.65).all()
