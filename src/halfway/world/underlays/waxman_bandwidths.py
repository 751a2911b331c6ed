"""The bandwidths of a Waxman network: uniform, heavy-tailed or exponential random numbers."""

from halfway.core.compiled import kernel
from halfway.core.prng import advanced, mixed, uniform
from halfway.world.portable_math import exponential, logarithm

_TAIL = 1.2  # the exponent of heavy-tailed bandwidths


@kernel
def draw_uniform(out, least, most, word):
    """Fill `out` with uniform bandwidths of a Waxman network, from `least` to `most`."""
    for k in range(out.shape[0]):
        word = advanced(word)
        out[k] = least + uniform(mixed(word)) * (most - least)


@kernel
def draw_heavy_tailed(out, least, most, word):
    """Fill `out` with heavy-tailed bandwidths of a Waxman network: a Pareto law cut at `most`."""
    kept = exponential(_TAIL * logarithm(least / most))
    for k in range(out.shape[0]):
        word = advanced(word)
        share = 1.0 - uniform(mixed(word)) * (1.0 - kept)
        out[k] = min(max(least * exponential(-logarithm(share) / _TAIL), least), most)


@kernel
def draw_exponential(out, mean, word):
    """Fill `out` with exponential bandwidths of a Waxman network, of a given mean."""
    for k in range(out.shape[0]):
        word = advanced(word)
        out[k] = -mean * logarithm(1.0 - uniform(mixed(word)))
