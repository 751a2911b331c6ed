"""The bandwidths of a Waxman network: uniform, heavy-tailed or exponential random numbers."""

from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed, uniform
from halfway.world.portable_math import exponential, logarithm

_TAIL = 1.2  # the exponent of heavy-tailed bandwidths


@kernel
def draw_uniform(out, least, most, word):
    """Draw a Waxman network's bandwidths: fill out with uniform numbers from least to most."""
    for k in range(out.shape[0]):
        word = advanced(word)
        out[k] = least + uniform(mixed(word)) * (most - least)


@kernel
def draw_heavy_tailed(out, least, most, word):
    """Draw Waxman bandwidths: fill out from least to most, with a Pareto tail."""
    kept = exponential(_TAIL * logarithm(least / most))
    for k in range(out.shape[0]):
        word = advanced(word)
        share = 1.0 - uniform(mixed(word)) * (1.0 - kept)
        out[k] = min(max(least * exponential(-logarithm(share) / _TAIL), least), most)


@kernel
def draw_exponential(out, mean, word):
    """Fill `out` with exponential bandwidths for a Waxman network, with a given mean."""
    for k in range(out.shape[0]):
        word = advanced(word)
        out[k] = -mean * logarithm(1.0 - uniform(mixed(word)))
