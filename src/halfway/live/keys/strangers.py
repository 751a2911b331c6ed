"""Protection from strangers: cookies that prove an address, and a limit of handshakes per
source.
"""

import hmac
from collections import OrderedDict
from hashlib import sha256

from halfway.live.keys.noise import KEY_BYTES, Random
from halfway.live.security import Address

COOKIE_BYTES = 16
_COOKIE_LIFE_S = 120.0
HANDSHAKE_RATE = 20.0  # a second and host
MOST_SOURCES = 4096


class Cookies:
    """Cookies without stored state: a keyed hash of address and boot, valid for 2 to 4 minutes."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._keys = (random(KEY_BYTES), random(KEY_BYTES))  # the present key, and the key before
        self._renew_at: float | None = None

    def cookie(self, address: Address, boot: bytes, now: float) -> bytes:
        """Return the cookie of 16 bytes for an address (now: seconds); showing it proves the
        address.
        """
        self._renew(now)
        return _hashed(self._keys[0], address, boot)

    def is_valid(self, cookie: bytes, address: Address, boot: bytes, now: float) -> bool:
        """Return whether a cookie was issued to this address and boot."""
        self._renew(now)
        return any(hmac.compare_digest(cookie, _hashed(key, address, boot)) for key in self._keys)

    def _renew(self, now: float) -> None:
        if self._renew_at is None:
            self._renew_at = now + _COOKIE_LIFE_S
        if now >= self._renew_at:
            quiet = now >= self._renew_at + _COOKIE_LIFE_S  # the present key is as old, too
            before = self._random(KEY_BYTES) if quiet else self._keys[0]
            self._keys = (self._random(KEY_BYTES), before)
            self._renew_at = now + _COOKIE_LIFE_S


def _hashed(key: bytes, address: Address, boot: bytes) -> bytes:
    content = f"{address[0]} {address[1]} ".encode() + boot
    return hmac.digest(key, content, sha256)[:COOKIE_BYTES]


class SourceLimit:
    """A token bucket for each source of handshakes, with `rate` tokens per second and in a burst.

    The table has 4,096 sources; a new source takes the place of the source that was quiet for
    longest.
    """

    def __init__(self, rate: float = HANDSHAKE_RATE) -> None:
        self._rate = rate
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # tokens, since

    def admits(self, host: str, now: float) -> bool:
        """Return whether the limit of a host allows one more handshake datagram now (seconds)."""
        tokens, since = self._buckets.pop(host, (self._rate, now))
        tokens = min(self._rate, tokens + (now - since) * self._rate)
        admitted = tokens >= 1.0
        self._buckets[host] = (tokens - admitted, now)
        if len(self._buckets) > MOST_SOURCES:
            self._buckets.popitem(last=False)
        return admitted
