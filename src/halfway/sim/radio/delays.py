"""The delays and losses of collision-free radios: one delay for all links or a delay for each link,
and random losses.

`Ideal`: a unit disk whose every hop takes the same time. `Distances`: each link has its own delay.
`Lossy` wraps one of these two: each reception fails with the probability of its link.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined
from halfway.core.prng import advanced, mixed, seeded, uniform
from halfway.problem import Problem
from halfway.sim.engine.radio_interface import LOSSES
from halfway.sim.radio import collision_free
from halfway.sim.radio.collision_free import LinkModel, declare_links
from halfway.world.graphs.network import Network


class Ideal(NamedTuple):
    """The ideal radio, with the same delay over every link."""

    delay: float  # seconds


class Distances(NamedTuple):
    """The distance radio of static nodes, with a delay for each link."""

    delay: npt.NDArray[np.float32]  # [m] seconds, by place in `who`
    turn: npt.NDArray[np.uint32]  # [m] within a row: places of neighbours, by (delay, place)


class Lossy(NamedTuple):
    """The lossy radio: an ideal or distance radio whose receptions fail independently."""

    radio: Any  # Ideal or Distances
    success: npt.NDArray[np.float32]  # [m] probability by place in `who`; [1]: equal for all links
    random_state: npt.NDArray[np.uint64]  # [1] one stream, drawn in the total order of receptions


def distances(network: Network, delay: npt.ArrayLike) -> Distances:
    """Return a collision-free radio with a delay of each directed link, [m] in seconds: the
    distance radio.

    Raises Problem for delays that are negative or not finite, or not one for each link.
    """
    seconds = np.asarray(delay, np.float32)
    if seconds.shape != network.who.shape or not (seconds >= 0).all() or np.isinf(seconds).any():
        raise Problem(
            f"delay: expected one finite time of 0 s or more for each of the {len(network.who)} "
            "directed links"
        )
    rows = np.repeat(np.arange(network.n), network.degree)
    turn = np.lexsort((np.arange(len(seconds)), seconds, rows)).astype(np.uint32)
    return Distances(seconds, turn)


def lossy(
    radio: Ideal | Distances, success: npt.ArrayLike, network: Network | None, seed: int
) -> Lossy:
    """Return a collision-free radio with random losses, from one probability of reception, or one
    for each directed link [m].

    network: None where links come and go, which have one probability for all.
    Raises Problem for values outside 0…1, or not one for each link.
    """
    share = np.asarray(success, np.float32)
    links = (1,) if network is None else network.who.shape
    if share.ndim > 0 and share.shape != links:
        expected = "one number, because the links change"
        if network is not None:
            expected = f"one number, or one for each of the {links[0]} directed links"
        raise Problem(f"success: {share.size} probabilities of reception: expected {expected}")
    if not ((share >= 0) & (share <= 1)).all():
        raise Problem("probability of reception: expected a number from 0 to 1 for every link")
    share = np.broadcast_to(share, links).copy()  # one type of array for every input
    state = seeded(np.uint64(seed), LOSSES)
    return Lossy(radio, share, np.array([state], np.uint64))


@inlined
def _same_delay(radio, place):
    return radio.delay


@inlined
def _own_delay(radio, place):
    return np.float64(radio.delay[place])


@inlined
def _inner_delay(radio, place):
    return collision_free.delay_of(radio.radio, place)


@inlined
def _in_order(radio, turn):
    return np.uint32(turn)


@inlined
def _by_delay(radio, turn):
    return radio.turn[np.uint32(turn)]


@inlined
def _inner_turn(radio, turn):
    return collision_free.next_turn(radio.radio, turn)


@inlined
def _yes(radio):
    return True


@inlined
def _no(radio):
    return False


@inlined
def _inner_at_once(radio):
    return collision_free.all_at_once(radio.radio)


@inlined
def _always(radio, place):
    return True


@inlined
def _with_losses(radio, place):
    radio.random_state[0] = advanced(radio.random_state[0])
    share = radio.success[0] if radio.success.shape[0] == 1 else radio.success[place]
    return uniform(mixed(radio.random_state[0])) < share


declare_links(Ideal, LinkModel(_same_delay, _in_order, _yes, _always))
declare_links(Distances, LinkModel(_own_delay, _by_delay, _no, _always))
declare_links(Lossy, LinkModel(_inner_delay, _inner_turn, _inner_at_once, _with_losses))
