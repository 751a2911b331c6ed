"""Figures 6 to 8 of paper 5: their quantities by messages equal those of the bulk driver.

Figure 6 has latencies, Figure 7 mean loads and Figure 8 deviations of loads, of underlay-aware
SIENA over unmodified SIENA. Both trees run by messages here. Figure 5 is in `test_twin_of_faults`.
"""

import numpy as np
import pytest
from scipy import stats

from halfway.bulk.broker_trees.load import Passage, loads
from halfway.bulk.broker_trees.overlay import Overlay
from halfway.bulk.broker_trees.queues import ROUTES, stress
from halfway.world.workload.content import content
from tests.bulk.broker_trees.test_load_twin import (
    BROKERS,
    CLIENTS,
    EVENTS,
    RECORD_BYTES,
    SHAPES,
    Measured,
    Timing,
    by_messages,
    grown,
    in_bulk,
)

UNDERLAYS = 10
QUIET_S, RUSH_S = 30.0, 0.02  # the time of all events: nothing waits, and records wait


def figures(overlay: Overlay, found: Measured, *, aware: bool) -> dict[str, float]:
    """The quantities of Figures 7 and 8 over each set of links: mean and deviation of the load."""
    on, uses = stress(overlay, aware=aware), np.array(found.uses)
    each = loads(Passage(found.latency_s, found.notifications, uses), on, RECORD_BYTES)
    carried = np.bincount(on.link, np.repeat(uses, np.diff(on.first_link)), on.links)
    carried = carried[np.unique(on.link)] * RECORD_BYTES / 1000.0  # kilobytes, as `Loads`
    return {
        **each._asdict(),
        "carrying_mean": float(carried.mean()),
        "carrying_deviation": float(carried.std()),
    }


@pytest.mark.parametrize("shape", [*SHAPES, "waxman", "unit disk"])
@pytest.mark.parametrize("window_s", [QUIET_S, RUSH_S])
def test_unmodified_siena_has_the_latency_and_the_loads_of_the_bulk_driver(
    shape: str, window_s: float
) -> None:
    """[uas Figs. 6-8] the system that the figures compare with, by its own handler."""
    overlay = grown(shape)
    drawn = content(BROKERS, CLIENTS, EVENTS, "all", 3)
    bulk, messages = (f(overlay, drawn, "direct", window_s, aware=False)
                      for f in (in_bulk, by_messages))  # fmt: skip
    assert messages._replace(latency_s=0.0) == bulk._replace(latency_s=0.0)
    assert messages.latency_s == pytest.approx(bulk.latency_s, rel=1e-9)
    aware = in_bulk(overlay, drawn, "halves", window_s)
    second_paths = any(np.reshape(aware.uses, (-1, ROUTES))[:, 2:].ravel())
    assert (aware.load != bulk.load) == second_paths


@pytest.mark.parametrize("balance", ["halves", "earliest"])
@pytest.mark.parametrize(("interest", "clients"), [("selective", 8 * CLIENTS), ("all", CLIENTS)])
@pytest.mark.parametrize("window_s", [QUIET_S, RUSH_S])
def test_on_waxman_underlays_the_figures_by_messages_are_those_of_the_bulk_driver(
    balance: str, interest: str, clients: int, window_s: float
) -> None:
    """[uas Figs. 6-8] on the model of underlay of the figures, with both kinds of clients.

    Copies of an event that leave together over one link may leave in another order.
    """
    for seed in range(UNDERLAYS):
        overlay = grown("waxman", seed)
        drawn = content(BROKERS, clients, EVENTS, interest, seed)  # type: ignore[arg-type]
        bulk, messages = (f(overlay, drawn, balance, window_s) for f in (in_bulk, by_messages))
        assert messages.notifications == bulk.notifications == drawn.wanted.sum()
        assert messages.latency_s == pytest.approx(bulk.latency_s, rel=1e-3)
        assert figures(overlay, messages, aware=True) == figures(overlay, bulk, aware=True)


def test_by_messages_least_wait_takes_the_second_path_less_often() -> None:
    """[uas Fig. 6] a broker measures waits by PINGs, so it misses waits between two PINGs."""
    second = []
    for seed in range(UNDERLAYS):
        overlay = grown("waxman", seed)
        drawn = content(BROKERS, CLIENTS, EVENTS, "all", seed)
        found = (f(overlay, drawn, "least-wait", RUSH_S) for f in (in_bulk, by_messages))
        second.append([np.reshape(each.uses, (-1, ROUTES))[:, 2:].sum() for each in found])
    bulk, messages = np.transpose(second)
    assert (messages <= bulk).all()
    assert messages.sum() < bulk.sum()


@pytest.mark.parametrize("shape", ["waxman", "unit disk", "power law"])
def test_in_long_queues_earliest_saves_by_messages_what_it_saves_in_bulk(shape: str) -> None:
    """[uas Fig. 6] within the 95 % interval over the underlays, although waits are measured late.

    A PING measures both paths every 0.15 s. All links have a tenth of their bandwidth.
    """
    ratios = []
    for seed in range(UNDERLAYS):
        overlay = grown(shape, seed, speed=0.1)
        drawn = content(BROKERS, CLIENTS, 10 * EVENTS, "all", seed)
        often = Timing(0.15, 6.0, 7.2)
        unmodified = in_bulk(overlay, drawn, "direct", 1.2, aware=False).latency_s
        bulk = in_bulk(overlay, drawn, "earliest", 1.2).latency_s
        by_siena = by_messages(overlay, drawn, "direct", 1.2, often, aware=False).latency_s
        messages = by_messages(overlay, drawn, "earliest", 1.2, often).latency_s
        ratios.append([bulk / unmodified, messages / by_siena])
    bulk_ratio, message_ratio = np.transpose(ratios)
    interval = stats.t.interval(
        0.95, UNDERLAYS - 1, loc=bulk_ratio.mean(), scale=stats.sem(bulk_ratio)
    )
    assert bulk_ratio.mean() < 1.0
    assert interval[0] <= message_ratio.mean() <= interval[1]
