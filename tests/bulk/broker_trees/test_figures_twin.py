"""Figures 6 to 8 of paper 5: their quantities by messages equal those of the bulk driver.

Figure 6 has latencies, Figure 7 mean loads and Figure 8 deviations of loads, of underlay-aware
SIENA over unmodified SIENA. Both trees run by messages here. Figure 5 is in `test_twin_of_faults`.

    python -m tests.bulk.broker_trees.test_figures_twin

prints the latencies in long queues, over those of unmodified SIENA.
"""

import sys
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from halfway.bulk.broker_trees.broker_overlay import Overlay
from halfway.bulk.broker_trees.load import Passage, loads
from halfway.bulk.broker_trees.queues import ROUTES, stress
from halfway.protocols.broker_trees.paths.decisions import BALANCES
from halfway.world.workload.content import Interest, content
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
LONG_S = 1.2  # the time of ten times as many events: queues are long
LONG_SHAPES = ["waxman", "unit disk", "power law"]


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
    bulk, messages = (
        f(overlay, drawn, "direct", window_s, aware=False) for f in (in_bulk, by_messages)
    )
    assert messages._replace(latency_s=0.0) == bulk._replace(latency_s=0.0)
    assert messages.latency_s == pytest.approx(bulk.latency_s, rel=1e-9)
    aware = in_bulk(overlay, drawn, "halves", window_s)
    second_paths = any(np.reshape(aware.uses, (-1, ROUTES))[:, 2:].ravel())
    assert (aware.load != bulk.load) == second_paths


@pytest.mark.parametrize("balance", ["halves", "earliest"])
@pytest.mark.parametrize(("interest", "clients"), [("selective", 8 * CLIENTS), ("all", CLIENTS)])
@pytest.mark.parametrize("window_s", [QUIET_S, RUSH_S])
def test_on_waxman_underlays_the_figures_by_messages_are_those_of_the_bulk_driver(
    balance: str, interest: Interest, clients: int, window_s: float
) -> None:
    """[uas Figs. 6-8] on the model of underlay of the figures, with both kinds of clients.

    Copies of an event that leave together over one link may leave in another order.
    """
    for seed in range(UNDERLAYS):
        overlay = grown("waxman", seed)
        drawn = content(BROKERS, clients, EVENTS, interest, seed)
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


def ratios_in_long_queues(shape: str, balances: Sequence[str]) -> npt.NDArray[np.float64]:
    """[balances, 2, underlays] latencies over those of unmodified SIENA: in bulk, by messages.

    A PING measures both paths every 0.15 s. All links have a tenth of their bandwidth. No event is
    lost, although the root searches for a path to its successor in these seconds.
    """
    found = np.empty((len(balances), 2, UNDERLAYS))
    often = Timing(0.15, 6.0, 7.2)
    for seed in range(UNDERLAYS):
        overlay = grown(shape, seed, speed=0.1)
        drawn = content(BROKERS, CLIENTS, 10 * EVENTS, "all", seed)
        unmodified = (
            in_bulk(overlay, drawn, "direct", LONG_S, aware=False).latency_s,
            by_messages(overlay, drawn, "direct", LONG_S, often, aware=False).latency_s,
        )
        for k, balance in enumerate(balances):
            bulk = in_bulk(overlay, drawn, balance, LONG_S).latency_s
            messages = by_messages(overlay, drawn, balance, LONG_S, often)
            assert messages.notifications == drawn.wanted.sum()
            found[k, :, seed] = bulk / unmodified[0], messages.latency_s / unmodified[1]
    return found


def interval(values: npt.NDArray[np.float64]) -> tuple[float, float]:
    """The 95 % interval of a mean over underlays."""
    low, high = stats.t.interval(
        0.95, len(values) - 1, loc=values.mean(), scale=max(float(stats.sem(values)), 1e-12)
    )
    return float(low), float(high)


@pytest.mark.parametrize("shape", LONG_SHAPES)
@pytest.mark.long
def test_in_long_queues_earliest_saves_by_messages_what_it_saves_in_bulk(shape: str) -> None:
    """[uas Fig. 6] within the 95 % interval over the underlays, although waits are known late."""
    ((bulk, messages),) = ratios_in_long_queues(shape, ["earliest"])
    low, high = interval(bulk)
    assert bulk.mean() < 1.0
    assert low <= messages.mean() <= high


if __name__ == "__main__":
    for name in LONG_SHAPES:
        for balance, levels in zip(BALANCES, ratios_in_long_queues(name, BALANCES), strict=True):
            cells = [
                "{:.3f} [{:.3f}, {:.3f}]".format(each.mean(), *interval(each)) for each in levels
            ]
            sys.stdout.write(f"| {name} | {balance} | {' | '.join(cells)} |\n")
