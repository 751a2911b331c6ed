"""The digest of the state of a protocol, by which drivers of the same handler are compared."""

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt


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
        whole.update(np.ascontiguousarray(part).tobytes())
    return whole.hexdigest()[:16]
