"""The kept records of a run, which its caller reads: received records, and reports to
applications.
"""

import numpy as np
import numpy.typing as npt

from halfway.core.message import RECORD
from halfway.problem import Problem

Records = tuple[npt.NDArray[np.void], npt.NDArray[np.int64]]  # of RECORD; their rows


class KeptRecords:
    """The kept records of a run: received records up to a limit, and reports to applications."""

    def __init__(self, most: int) -> None:
        if most < 0:
            raise Problem(f"received_records = {most}: expected 0 or more records")
        self._most, self._count = most, 0
        self._received, self._reported = [_none()], [_none()]

    def add(self, received: Records, reported: Records) -> None:
        """Append kept records in order. Raises Problem for more received records than the
        limit.
        """
        self._reported.append(reported)
        if self._most == 0:
            return
        self._count += len(received[1])
        if self._count > self._most:
            remedy = "keep more records, or stop the run earlier"
            what = f"received_records = {self._most}: the nodes received more records"
            raise Problem(what, remedy=remedy)
        self._received.append(received)

    def received_records(self) -> Records:
        """Return the kept records that nodes received, and the row of each receiver."""
        return _joined(self._received)

    def reports(self) -> Records:
        """Return the kept records that nodes reported to applications, and the row of each
        sender.
        """
        return _joined(self._reported)


def _none() -> Records:
    return np.zeros(0, RECORD), np.zeros(0, np.int64)


def _joined(pieces: list[Records]) -> Records:
    """Replace the pieces in a list of kept records by one array, and return this array."""
    records, rows = zip(*pieces, strict=True)
    pieces[:] = [(np.concatenate(records), np.concatenate(rows))]
    return pieces[0]
