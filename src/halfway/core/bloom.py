"""Bloom filters as rows of 32-bit words, with our own hash, which gives the same bytes in every
process.

An item is one 64-bit word, mixed from a key and the content that it represents. The sizes follow
Tarkoma, Rothenberg, Lagerspetz, "Theory and practice of Bloom filters for distributed systems".
"""

import math
from typing import NamedTuple

import numpy as np

from halfway.core.compiled import inlined
from halfway.core.prng import advanced, mixed, pick
from halfway.problem import Problem

WORD_BITS = 32
_5, _31 = np.uint32(5), np.uint32(31)
_1 = np.uint32(1)


class Size(NamedTuple):
    """The size of a Bloom filter: its bits, and its hashes for an item."""

    bits: int  # a multiple of 32
    hashes: int  # bits set for an item

    @property
    def words(self) -> int:
        """The number of 32-bit words of a Bloom filter."""
        return self.bits // WORD_BITS


def sized(items: int, false_positives: float) -> Size:
    """Return the size of the smallest Bloom filter with at most a given share of false positives.

    items: expected number of distinct items. Raises Problem for 0 items, or a share outside (0, 1).
    """
    if items < 1:
        raise Problem(f"items = {items}: expected at least 1")
    if not 0.0 < false_positives < 1.0:
        raise Problem(f"false_positives = {false_positives}: expected a share above 0 and below 1")
    bits = -items * math.log(false_positives) / math.log(2) ** 2
    return with_bits(items, math.ceil(bits / WORD_BITS) * WORD_BITS)


def with_bits(items: int, bits: int) -> Size:
    """Return the size of a Bloom filter of `bits` bits, with the best number of hashes.

    Raises Problem unless bits is a positive multiple of 32 that fits a 32-bit index.
    """
    if bits < WORD_BITS or bits % WORD_BITS or bits >= 2**31:
        what = f"bits = {bits}: expected a multiple of 32, from 32 to {2**31 - WORD_BITS:,}"
        raise Problem(what, remedy="use 32, 64, 96, …")
    return Size(bits, max(1, round(bits / max(items, 1) * math.log(2))))


def expected_false_positives(size: Size, items: float) -> float:
    """Return the expected share of absent items that a Bloom filter with `items` items admits."""
    filled = 1.0 - math.exp(-size.hashes * items / size.bits)
    return float(filled**size.hashes)


@inlined
def insert(words, item, bits, hashes):
    """Set the bits of an item in a Bloom filter, a row of words."""
    for _ in range(hashes):
        item = advanced(item)
        position = pick(mixed(item), bits)
        words[position >> _5] |= _1 << (position & _31)


@inlined
def may_hold(words, item, bits, hashes):
    """Return whether all bits of an item are set in a Bloom filter; an inserted item always
    passes.
    """
    for _ in range(hashes):
        item = advanced(item)
        position = pick(mixed(item), bits)
        if (words[position >> _5] >> (position & _31)) & _1 == 0:
            return False
    return True
