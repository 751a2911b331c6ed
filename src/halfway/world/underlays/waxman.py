"""AS-level Waxman networks, which grow node by node as in the generator BRITE.

Source: Medina, Lakhina, Matta & Byers, MASCOTS 2001 (BRITE); Waxman, JSAC 1988. The rules
follow the generator's behaviour: m links for each joining node to earlier ones, then m from each of
the first m nodes to later ones, n x m in all. We use our own random numbers.
"""

import math
from typing import NamedTuple

import numpy as np

from halfway.core.prng import seeded
from halfway.problem import Problem
from halfway.world.graphs.link_list import LinkList
from halfway.world.underlays import waxman_bandwidths, waxman_growth
from halfway.world.underlays.underlay import SPEED_OF_LIGHT_KM_S, Doubles, Underlay, underlay_of

PLACEMENTS = ("random", "heavy-tailed")
BANDWIDTHS = ("constant", "uniform", "heavy-tailed", "exponential")
_PLACES, _LINKS, _SPEEDS = range(3)  # ids of the random streams
_MOST_SIDE = 2**24  # squares of coordinates stay exact
_MEGA = 1e6


class Waxman(NamedTuple):
    """The parameters of BRITE's AS-level Waxman model with incremental growth, and its defaults.

    One unit of the plane is a kilometre. `alpha` is for the file's header only: it scales the odds
    of all links alike. A node always takes m links, so its choice is the same for any value.
    """

    n: int = 10_000  # nodes
    m: int = 2  # links that each joining node adds
    alpha: float = 0.15  # (0, 1]
    beta: float = 0.2  # reach of links: the odds fall by e with each beta * sqrt(2) * side
    side: int = 1000  # HS, of the plane; nodes are at distinct whole numbers in it
    square: int = 100  # LS, of the squares that a heavy-tailed placement fills
    placement: str = "random"
    bandwidth: str = "uniform"
    least_mbps: float = 10.0
    most_mbps: float = 1024.0

    def reach(self) -> float:
        """Return the distance (km) over which the probability of a link in the Waxman model falls
        by the factor e.
        """
        return self.beta * math.sqrt(2.0) * self.side


def waxman(parameters: Waxman, seed: int) -> Underlay:
    """Draw a Waxman underlay; the same bytes from the same seed in [0, 2^64) on every machine.

    `Network.labels` number the nodes as they joined, and positions are in km. The delay of a link
    is its length over the speed of light. Bandwidths are from `least_mbps` to `most_mbps`:
    "constant" gives `least_mbps` to all links, and "exponential" has the mean `least_mbps`. Raises
    Problem for parameters out of range.
    """
    _check(parameters, seed)
    n, m = parameters.n, parameters.m
    states = [np.uint64(seeded(np.uint64(seed), name)) for name in (_PLACES, _LINKS, _SPEEDS)]
    position = np.empty((n, 2))
    if parameters.placement == "random":
        waxman_growth.place_randomly(position, parameters.side, states[_PLACES])
    else:
        waxman_growth.place_heavy_tailed(
            position, parameters.side, parameters.square, states[_PLACES]
        )
    ends = np.empty((n * m, 2), np.int64)
    links = int(waxman_growth.grow(position, m, parameters.reach(), states[_LINKS], ends))
    bandwidth_bps = _bandwidths(parameters, links, states[_SPEEDS])
    offset = position[ends[:links, 0]] - position[ends[:links, 1]]
    length_km = np.sqrt(offset[:, 0] * offset[:, 0] + offset[:, 1] * offset[:, 1])
    listed = LinkList([str(i) for i in range(n)], ends[:links], position, {})
    delay_s = length_km / SPEED_OF_LIGHT_KM_S
    return underlay_of(listed, delay_s, bandwidth_bps, f"Waxman n = {n}, m = {m}")


def uniform_bandwidths(links: int, seed: int, least_mbps: float, most_mbps: float) -> Doubles:
    """Return [links]: the bandwidths of an AS-level network in bits a second, uniform from least to
    most (in Mb/s) [uas Table 2 and its text].
    """
    speed_mbps = np.empty(links)
    word = np.uint64(seeded(np.uint64(seed), _SPEEDS))
    waxman_bandwidths.draw_uniform(speed_mbps, least_mbps, most_mbps, word)
    return speed_mbps * _MEGA


def _bandwidths(model: Waxman, links: int, word: np.uint64) -> Doubles:
    # We draw "uniform" from least to most, as BRITE in C++; in Java it is least + most * U.
    speed_mbps = np.full(links, model.least_mbps, np.float64)
    if model.bandwidth == "uniform":
        waxman_bandwidths.draw_uniform(speed_mbps, model.least_mbps, model.most_mbps, word)
    elif model.bandwidth == "heavy-tailed":
        waxman_bandwidths.draw_heavy_tailed(speed_mbps, model.least_mbps, model.most_mbps, word)
    elif model.bandwidth == "exponential":
        waxman_bandwidths.draw_exponential(speed_mbps, model.least_mbps, word)
    return speed_mbps * _MEGA


def _check(model: Waxman, seed: int) -> None:
    def refuse(wrong: bool, name: str, value: object, allowed: str) -> None:
        if wrong:
            raise Problem(f"{name} = {value}: expected {allowed}")

    n, m, side = model.n, model.m, model.side
    refuse(not 0 <= seed < 2**64, "seed", seed, "an integer from 0 to 2^64 - 1")
    refuse(m < 1, "m", m, "at least 1")
    refuse(not 2 * m <= n < 2**31, "n", n, f"at least 2 m = {2 * m} (and fewer than 2^31)")
    refuse(not 1 <= side <= _MOST_SIDE, "side", side, f"from 1 to {_MOST_SIDE}")
    places = f"at most side^2 = {side * side}, because each node needs a place"
    refuse(n > side * side, "n", n, places)
    refuse(not 0 < model.alpha <= 1, "alpha", model.alpha, "a number above 0 and at most 1")
    refuse(not 0 < model.beta < math.inf, "beta", model.beta, "a positive, finite number")
    refuse(not 1 <= model.square <= side, "square", model.square, f"from 1 to the side, {side}")
    kinds = ((model.placement, PLACEMENTS, "placement"), (model.bandwidth, BANDWIDTHS, "bandwidth"))
    for value, known, name in kinds:
        refuse(value not in known, name, f"'{value}'", f"one of {', '.join(known)}")
    least, most = model.least_mbps, model.most_mbps
    refuse(not 0 < least < math.inf, "least_mbps", least, "a positive, finite number")
    refuse(not least <= most < math.inf, "most_mbps", most, f"finite, at least {least:g}")
