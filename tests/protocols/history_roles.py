"""The drawn periods of publishers and brokers in random histories, the drawn options of trees, and
the drawn one-way links.

All draws have a random stream of their own, so the histories of known seeds keep their networks,
subscriptions and faults.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from halfway.adapters.registry import named
from halfway.world.graphs.network import Network
from halfway.world.workload.demand import Listed
from halfway.world.workload.named_roles import ALWAYS, LINGER_S, BrokerPeriod, Period
from tests.one_way import Direction, with_one_ways

_PUBLISHERS, _BROKERS, _OPTIONS, _ONE_WAYS = 0x9B, 0xB0, 0x09, 0x0E
_MOST_BROKERS = 4
# With the default intervals, an announcement is stale after 35 s, and a broker that asks all others
# for a place needs 24 s.
_QUIET_OF_DEFAULTS_S = 60.0


class Variant(NamedTuple):
    """Options of a broker tree that a history draws, and the time of quiet that they need."""

    options: Mapping[str, Any]
    quiet_s: float | None  # None: that of the system


def variant_of(seed: int, system: str) -> Variant:
    """The options that a history of a broker tree draws: the default intervals in a quarter of the
    histories, with more quiet, and one or two brokers that a node knows. Other systems draw none.
    """
    adapter = named(system)
    if not adapter.adapter_with({}).has_broker_tree:
        return Variant({}, None)
    draw = np.random.default_rng([seed, _OPTIONS])
    usual, options = int(draw.integers(4)) == 0, dict[str, Any]()
    known = int(draw.integers(1, 3))
    if "known_brokers" in adapter.options:
        options["known_brokers"] = known
    if usual:
        some = ("refresh_s", "join_delay_s", "confirm_timeout_s", "tau_s")
        options |= {name: adapter.options[name].default for name in some if name in adapter.options}
    return Variant(options, _QUIET_OF_DEFAULTS_S if usual else None)


def with_periods(seed: int, demand: Listed, until_s: float) -> Listed:
    """The demand with publishers that begin late or withdraw, before `until_s` seconds.

    A publisher publishes before its end only. It keeps its role for `LINGER_S` seconds afterwards.
    """
    draw = np.random.default_rng([seed, _PUBLISHERS])
    periods, publications = dict[tuple[int, int], Period](), list[tuple[float, int, int]]()
    for role in sorted({(row, topic) for _, row, topic in demand.publications}):
        own = [one for one in demand.publications if one[1:] == role]
        sort, (begin, end) = int(draw.integers(4)), sorted(draw.uniform(0.0, until_s, 2).tolist())
        within = [(float(at), *role) for at in draw.uniform(begin, end, 2)]
        if sort == 2:
            periods[role], own = (begin, np.inf), [one for one in own if one[0] >= begin]
        elif sort == 3:
            periods[role], own = (begin, end + LINGER_S), within
        publications += own
    return replace(demand, publications=publications, publishing_periods=periods)


def with_brokers(seed: int, demand: Listed, n: int, until_s: float) -> Listed:
    """The demand with named brokers in two thirds of the histories: the root, and brokers that come
    or go before `until_s` seconds, do both, or stay.
    """
    draw = np.random.default_rng([seed, _BROKERS])
    if draw.integers(3) == 0:
        return demand
    root, *others = draw.permutation(n)[:_MOST_BROKERS].tolist()
    brokers = [BrokerPeriod(root)]
    for row in others:
        begin, end = sorted(draw.uniform(1.0, until_s, 2).tolist())
        from_s, to_s = (ALWAYS, (begin, np.inf), (0.0, end), (begin, end))[int(draw.integers(4))]
        brokers.append(BrokerPeriod(row, from_s, to_s))
    return replace(demand, brokers=tuple(brokers))


def one_ways_of(seed: int, network: Network) -> tuple[Network, tuple[Direction, ...]]:
    """The network of a history with more links that work in one direction only, in half of the
    histories, and their dead directions.
    """
    draw = np.random.default_rng([seed, _ONE_WAYS])
    if draw.integers(2) == 0:
        return network, ()
    return with_one_ways(draw, network, float(draw.uniform(0.1, 0.5)))


def latest_begin(demand: Listed, row: int) -> float:
    """When the last role of a row as publisher or broker begins, of those without an end, in s."""
    periods = [one for (at, _), one in demand.publishing_periods.items() if at == row]
    periods += [one[1:] for one in demand.brokers if one.row == row]
    return max((begin for begin, end in periods if end == np.inf), default=0.0)
