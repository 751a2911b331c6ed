"""Content workloads of brokers: clients with filters, and events with attributes, by a seed."""

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from halfway.core.filters import Filters, filters, match_matrix
from halfway.problem import Problem

# "selective": a filter matches about one event in a hundred; "all": all events.
Interest = Literal["selective", "all"]
ATTRIBUTES = 4
_CONSTRAINED = 2  # attributes of a selective filter
_WIDTH = 0.1  # share of an attribute's range that it matches


class Content(NamedTuple):
    """A content workload: clients at brokers, one filter each, and events in order of time."""

    home: npt.NDArray[np.int64]  # [clients] index of the client's broker
    filters: Filters  # one per client
    values: npt.NDArray[np.float64]  # [events, ATTRIBUTES] in [0, 1)
    publisher: npt.NDArray[np.int64]  # [events] index of the publishing client's broker
    at: npt.NDArray[np.float64]  # [events] time as a share of the run, in [0, 1), ascending
    wanted: npt.NDArray[np.int64]  # [events, brokers] the broker's clients whose filter matches


def content(brokers: int, clients: int, events: int, interest: Interest, seed: int) -> Content:
    """Draw a content workload: uniform brokers of clients, uniform publishers and event times.

    [uas Table 2] "Distribution of Clients Uniform". Raises Problem for bad values.
    """
    if interest not in get_args(Interest):
        raise Problem(f"interest = '{interest}': expected one of {', '.join(get_args(Interest))}")
    if min(brokers, clients, events) < 1:
        what = f"brokers = {brokers}, clients = {clients}, events = {events}"
        raise Problem(f"{what}: expected at least one of each")
    random = np.random.default_rng(seed)
    home = random.integers(0, brokers, clients)
    corner = random.random((clients, _CONSTRAINED)) * (1.0 - _WIDTH)
    chosen = random.permuted(np.tile(np.arange(ATTRIBUTES), (clients, 1)), axis=1)[:, :_CONSTRAINED]
    values = random.random((events, ATTRIBUTES))
    publisher = home[random.integers(0, clients, events)]
    at = np.sort(random.random(events))
    subscriptions = [
        {}
        if interest == "all"
        else {
            int(a): (float(low), float(low + _WIDTH))
            for a, low in zip(attributes, lows, strict=True)
        }
        for attributes, lows in zip(chosen, corner, strict=True)
    ]
    subscribed = filters(subscriptions)
    at_home = np.zeros((clients, brokers), np.float32)
    at_home[np.arange(clients), home] = 1.0
    # Sums of ones are exact in single precision up to 2^24 clients.
    wanted = (match_matrix(subscribed, values).astype(np.float32) @ at_home).astype(np.int64)
    return Content(home, subscribed, values, publisher, at, wanted)
