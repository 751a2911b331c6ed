"""The duplicate filter of events: a bounded window over ascending event ids.

Event ids ascend from 0 in the order of publication, as any int32. An event below the window counts
as received: a node may lose an old event, but it never repeats one.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.compiled import inlined

_NONE = np.int32(-1)


def empty_window(n: int, window: int) -> npt.NDArray[np.int32]:
    """The event windows of n nodes without events, [n, window]: an id, or -1, per place.

    Exact while every event in flight is less than `window` ids behind the newest one. The window is
    rounded up to a power of two, because a division costs more than all the rest.
    """
    return np.full((n, 1 << max(window - 1, 0).bit_length()), _NONE, np.int32)


@inlined
def record_if_new(seen, i, event):
    """Record an event in row i's event window; True if it is new there."""
    place = np.uint32(event) & np.uint32(seen.shape[1] - 1)
    if event <= seen[i, place]:
        return False
    seen[i, place] = event
    return True


@inlined
def record_among_newest(newest, i, topic, event):
    """Record a topic's event in row i's event window; True if it is new there.

    newest [n, topics, window]: the window's largest ids of each topic, each plus 1; 0: none. An id
    below all those of a full window counts as received. Unlike `record_if_new`, it is exact for ids
    with gaps as well, such as those of one topic among many, and reads the whole window.
    """
    key = np.uint32(np.uint32(event) + np.uint32(1))
    least = 0
    for place in range(newest.shape[2]):
        if newest[i, topic, place] == key:
            return False
        if newest[i, topic, place] < newest[i, topic, least]:
            least = place
    if key <= newest[i, topic, least]:
        return False
    newest[i, topic, least] = key
    return True
