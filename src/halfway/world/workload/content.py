"""Who wants which content at which broker, and who publishes what: a workload by a seed."""

from typing import Literal, NamedTuple, get_args

import numpy as np
import numpy.typing as npt

from halfway.core.filters import Filters, filters, matching
from halfway.problem import Problem

# selective: every client wants about one event in a hundred; everybody: all events.
Interest = Literal["selective", "everybody"]
ATTRIBUTES = 4
_CONSTRAINED = 2  # attributes of a selective filter …
_WIDTH = 0.1  # … and the share of each one's range that passes


class Content(NamedTuple):
    """Clients at brokers, one filter each, and events in order of time."""

    home: npt.NDArray[np.int64]  # [clients] index of the client's broker
    filters: Filters  # one a client
    values: npt.NDArray[np.float64]  # [events, ATTRIBUTES] in [0, 1)
    publisher: npt.NDArray[np.int64]  # [events] index of the broker of the client that publishes
    at: npt.NDArray[np.float64]  # [events] in [0, 1), ascending; a share of the run
    wanted: npt.NDArray[np.int64]  # [events, brokers] clients there whose filter matches


def content(brokers: int, clients: int, events: int, interest: Interest, seed: int) -> Content:
    """Draw a workload: clients uniform over brokers, events from uniform clients at uniform times.

    [uas Table 2] "Distribution of Clients Uniform". Raises Problem for what cannot be drawn.
    """
    if interest not in get_args(Interest):
        raise Problem(f"'{interest}' is no interest", remedy=f"one of {get_args(Interest)}")
    if min(brokers, clients, events) < 1:
        what = f"{brokers} brokers, {clients} clients, {events} events"
        raise Problem(what, remedy="there must be one of each at least")
    dice = np.random.default_rng(seed)
    home = dice.integers(0, brokers, clients)
    corner = dice.random((clients, _CONSTRAINED)) * (1.0 - _WIDTH)
    chosen = dice.permuted(np.tile(np.arange(ATTRIBUTES), (clients, 1)), axis=1)[:, :_CONSTRAINED]
    values = dice.random((events, ATTRIBUTES))
    publisher = home[dice.integers(0, clients, events)]
    at = np.sort(dice.random(events))
    wishes = [
        {}
        if interest == "everybody"
        else {int(a): (float(low), float(low + _WIDTH)) for a, low in zip(some, lows, strict=True)}
        for some, lows in zip(chosen, corner, strict=True)
    ]
    made = filters(wishes)
    return Content(home, made, values, publisher, at, _wanted(made, values, home, brokers))


def _wanted(
    made: Filters,
    values: npt.NDArray[np.float64],
    home: npt.NDArray[np.int64],
    brokers: int,
) -> npt.NDArray[np.int64]:
    at_home = np.zeros((len(home), brokers), np.float32)
    at_home[np.arange(len(home)), home] = 1.0
    # Sums of ones are exact in single precision up to 2^24 clients.
    counted: npt.NDArray[np.float32] = matching(made, values).astype(np.float32) @ at_home
    return counted.astype(np.int64)
