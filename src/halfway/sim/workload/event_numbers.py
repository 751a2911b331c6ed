"""The two numbers of each event in a run: the number in the run, and the number at the event's
publisher.

The simulator numbers the publications of a run from 0. A publisher numbers its own events from 0,
and only these numbers are in records.
"""

import sys

import numpy as np
import numpy.typing as npt

Longs = npt.NDArray[np.int64]
Int32s = npt.NDArray[np.int32]


def own_numbers(row: npt.ArrayLike) -> Longs:
    """Return the number of each publication of a run at its publisher, from the rows of the
    publishers in order.
    """
    rows = np.asarray(row, np.int64)
    order = np.argsort(rows, kind="stable")
    ordered = rows[order]
    first = np.searchsorted(ordered, ordered)
    number = np.empty(len(rows), np.int64)
    number[order] = np.arange(len(rows)) - first
    return number


def codes(row: npt.ArrayLike, number: npt.ArrayLike) -> Longs:
    """Return one number for each event of a run, which joins the row of its publisher and its
    number there.

    `engine.counting.key_of` is the compiled form for one event.
    """
    return np.asarray(row, np.int64) << 32 | np.asarray(number, np.int64)


class EventNumbers:
    """The numbers of a run's events in both directions, for the last `kept` events or for all
    events.
    """

    def __init__(self, n: int, kept: int = sys.maxsize) -> None:
        self._begun, self._kept = np.zeros(n, np.int64), kept
        self._code: Longs = np.zeros(0, np.int64)  # ascending
        self._event: Longs = np.zeros(0, np.int64)
        # Codes of events without a number in the run, ascending; a run has up to ten million.
        self._uncounted = np.zeros(0, np.int64)

    def enter(self, row: Int32s, event: Int32s) -> Int32s:
        """Enter publications by row and number in the run; return their numbers at the
        publishers.

        event: below 0 for events that have no number in the run, because no metric counts them.
        """
        number = (self._begun[row] + own_numbers(row)).astype(np.int32)
        np.add.at(self._begun, row, 1)
        counted = event >= 0
        if not counted.all():
            more = codes(row[~counted], number[~counted])
            self._uncounted = np.sort(np.concatenate((self._uncounted, more)), kind="stable")
        code = np.concatenate((self._code, codes(row[counted], number[counted])))
        events = np.concatenate((self._event, event[counted]))
        newest = np.argsort(events, kind="stable")[-self._kept :]
        order = newest[np.argsort(code[newest])]
        self._code = code[order]
        self._event = np.asarray(events[order], np.int64)
        return number

    @property
    def has_uncounted(self) -> bool:
        """Whether an entered event has no number in the run."""
        return len(self._uncounted) > 0

    def are_uncounted(self, row: Longs, number: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Return which events, by publisher and own number, have no number in the run."""
        code = codes(row, number)
        if not self.has_uncounted:
            return np.zeros(len(code), np.bool_)
        place = np.searchsorted(self._uncounted, code)
        return np.equal(self._uncounted[np.minimum(place, len(self._uncounted) - 1)], code)

    def events(self, row: Longs, number: npt.ArrayLike) -> Longs:
        """Return the numbers in the run of events by publisher and own number, or -1 for an event
        that is no longer kept.
        """
        code = codes(row, number)
        if not len(self._code):
            return np.full(len(code), -1, np.int64)
        place = np.minimum(np.searchsorted(self._code, code), len(self._code) - 1)
        return np.where(self._code[place] == code, self._event[place], -1)
