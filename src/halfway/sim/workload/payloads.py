"""The payload sizes of a run's events, for the record kinds that carry an event."""

import numpy as np
import numpy.typing as npt

from halfway.core.kinds import Kinds, carrying
from halfway.sim.engine.state import Payload
from halfway.sim.workload.event_numbers import codes
from halfway.world.workload.demand import Publications

_LEAST_PLACES = 4096
_FREE = np.iinfo(np.int64).max


def payload_of(kinds: Kinds, window: int) -> Payload:
    """Return an empty table of payload sizes for a run, with room for the events in flight.

    Places are reused after four windows. No node handles an event that old.
    """
    carried, places = np.zeros(256, np.uint8), max(4 * window, _LEAST_PLACES)
    carried[carrying(kinds)] = 1
    return Payload(carried, np.full(places, _FREE), np.zeros(places, np.int64))


class PayloadSizes:
    """The payload sizes of a run's events, entered into the table of the engine."""

    def __init__(self, payload: Payload) -> None:
        self._payload = payload
        self._keys = np.zeros(0, np.int64)  # of the events in the payload, the oldest first
        self._sizes = np.zeros(0, np.int64)

    def enter(self, publisher: npt.NDArray[np.int32], publications: Publications) -> None:
        """Enter the payload sizes of the run's next publications, if the workload has sizes.
        publisher: node ids.
        """
        if publications.size is None:
            return
        places = len(self._payload.event)
        has_bytes = publications.size > 0  # the table says 0 for events that it does not have
        keys = codes(publisher[has_bytes], publications.event[has_bytes])
        self._keys = np.concatenate((self._keys, keys))[-places:]
        self._sizes = np.concatenate((self._sizes, publications.size[has_bytes]))[-places:]
        order = np.argsort(self._keys)
        self._payload.event[: len(order)] = self._keys[order]
        self._payload.size[: len(order)] = self._sizes[order]
