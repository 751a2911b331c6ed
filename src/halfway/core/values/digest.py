"""Digests: of the state of a protocol, by which drivers of the same handler are compared, and of
texts and bytes.
"""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt


def short_digest(content: str | bytes) -> str:
    """Return the first 16 hex digits of the SHA-256 of a text or of bytes, for names and keys."""
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:16]


def arrays(state: Any) -> Iterator[npt.NDArray[Any]]:
    """Yield every array of a protocol's state for its digest, also from nested tuples."""
    for part in state:
        if isinstance(part, tuple):
            yield from arrays(part)
        elif isinstance(part, np.ndarray):
            yield part


def state_digest(state: Any) -> str:
    """Return a hex digest of all bytes in a protocol's state."""
    whole = hashlib.sha256()
    for part in arrays(state):
        # Without a copy, because a table may take a large part of the memory.
        whole.update(np.ascontiguousarray(part).reshape(-1).view(np.uint8).data)
    return whole.hexdigest()[:16]
