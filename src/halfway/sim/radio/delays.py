"""Radios: when a transmission reaches each neighbour, and whether it does. Chosen by type.

`Ideal`: a unit disk whose every hop takes the same time. `Distances`: a time of its own for every
link. `Lossy` wraps either: each reception fails with a probability of its link.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from numba.extending import overload

from halfway.core.compiled import inlined
from halfway.core.prng import advanced, mixed, seeded, uniform
from halfway.problem import Problem
from halfway.world.graphs.network import Network


class Ideal(NamedTuple):
    """Every neighbour hears every transmission after the same delay."""

    delay: float  # seconds


class Distances(NamedTuple):
    """Every neighbour hears every transmission after its own link's delay."""

    delay: npt.NDArray[np.float32]  # [m] seconds, by place in `who`
    turn: npt.NDArray[np.uint32]  # [m] within a row: places of its neighbours by (delay, place)


class Lossy(NamedTuple):
    """A radio whose receptions fail, each on its own."""

    radio: Any  # Ideal or Distances
    success: npt.NDArray[np.float32]  # [m] probability by place in `who`; [1]: that of every link
    random_state: npt.NDArray[np.uint64]  # [1] one stream, drawn in the total order of receptions


def distances(network: Network, delay: npt.ArrayLike) -> Distances:
    """A radio with a delay [m] in seconds for each directed link of a network.

    Raises Problem for delays that are not finite, negative, or not one a link.
    """
    seconds = np.asarray(delay, np.float32)
    if seconds.shape != network.who.shape or not (seconds >= 0).all() or np.isinf(seconds).any():
        raise Problem(
            f"{seconds.size} delays for {len(network.who)} directed links, or one is no time",
            remedy="give a finite delay >= 0 s for every directed link",
        )
    rows = np.repeat(np.arange(network.n), network.degree)
    turn = np.lexsort((np.arange(len(seconds)), seconds, rows)).astype(np.uint32)
    return Distances(seconds, turn)


def lossy(
    radio: Ideal | Distances, success: npt.ArrayLike, network: Network | None, seed: int
) -> Lossy:
    """That radio with a probability of reception for all links, or one for each directed link [m].

    network: None where links come and go; they all have one probability then.
    Raises Problem for what is no probability or not one a link.
    """
    share = np.asarray(success, np.float32)
    links = (1,) if network is None else network.who.shape
    if share.ndim > 0 and share.shape != links:
        what = "links that come and go" if network is None else f"{links[0]} directed links"
        raise Problem(
            f"{share.size} probabilities of reception for {what}",
            remedy="give one for all, or one for every directed link of a network",
        )
    if not ((share >= 0) & (share <= 1)).all():
        raise Problem("a probability of reception is not in 0…1", remedy="give 0 <= p <= 1")
    share = np.broadcast_to(share, links).copy()  # one type of array, whatever was given
    word = seeded(np.uint64(seed), _LOSS)
    return Lossy(radio, share, np.array([word], np.uint64))


_LOSS = 0x1055  # the name of the losses' dice


def delay_of(radio: Any, place: Any) -> Any:
    """Seconds that a transmission takes over the link at that place."""
    return _DELAYS[type(radio)](radio, place)


def next_turn(radio: Any, first: Any, cursor: Any) -> Any:
    """Place of the neighbour that hears a broadcast as number `cursor`, in a row from `first`."""
    return _TURNS[type(radio)](radio, first, cursor)


def all_at_once(radio: Any) -> Any:
    """Whether every neighbour hears a transmission at the same time."""
    return _AT_ONCE[type(radio)](radio)


def received(radio: Any, place: Any) -> Any:
    """Draw whether this reception over the link at that place succeeds."""
    return _RECEIVED[type(radio)](radio, place)


@inlined
def _same_delay(radio, place):
    return radio.delay


@inlined
def _own_delay(radio, place):
    return np.float64(radio.delay[place])


@inlined
def _inner_delay(radio, place):
    return delay_of(radio.radio, place)


@inlined
def _in_order(radio, first, cursor):
    return np.uint32(first + cursor)


@inlined
def _by_delay(radio, first, cursor):
    return radio.turn[np.uint32(first + cursor)]


@inlined
def _inner_turn(radio, first, cursor):
    return next_turn(radio.radio, first, cursor)


@inlined
def _yes(radio):
    return True


@inlined
def _no(radio):
    return False


@inlined
def _inner_at_once(radio):
    return all_at_once(radio.radio)


@inlined
def _always(radio, place):
    return True


@inlined
def _drawn(radio, place):
    radio.random_state[0] = advanced(radio.random_state[0])
    share = radio.success[0] if radio.success.shape[0] == 1 else radio.success[place]
    return uniform(mixed(radio.random_state[0])) < share


_DELAYS = {Ideal: _same_delay, Distances: _own_delay, Lossy: _inner_delay}
_TURNS = {Ideal: _in_order, Distances: _by_delay, Lossy: _inner_turn}
_AT_ONCE = {Ideal: _yes, Distances: _no, Lossy: _inner_at_once}
_RECEIVED = {Ideal: _always, Distances: _always, Lossy: _drawn}


@overload(delay_of, jit_options={"forceinline": True})
def _delay_of(radio, place):
    way = _DELAYS[radio.instance_class]
    return lambda radio, place: way(radio, place)


@overload(next_turn, jit_options={"forceinline": True})
def _next_turn(radio, first, cursor):
    way = _TURNS[radio.instance_class]
    return lambda radio, first, cursor: way(radio, first, cursor)


@overload(all_at_once, jit_options={"forceinline": True})
def _all_at_once(radio):
    way = _AT_ONCE[radio.instance_class]
    return lambda radio: way(radio)


@overload(received, jit_options={"forceinline": True})
def _received(radio, place):
    way = _RECEIVED[radio.instance_class]
    return lambda radio, place: way(radio, place)
