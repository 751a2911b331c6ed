"""The limit on the number of records at one instant of a simulation, which finds endless loops of
timers.
"""

from dataclasses import dataclass

import numba

from halfway.problem import Problem

# Whether handlers are interpreted -> records at one instant: for each node, and in addition.
_MOST_AT_ONCE = {False: (1_000, 1_000_000), True: (100, 20_000)}


@dataclass
class InstantLimit:
    """The count of the records at one instant of a simulation; above a limit, the run stops with an
    error.
    """

    most: int  # records at one instant
    at: float = -1.0  # seconds
    first: int = 0  # records handled before this instant
    waiting: int = 0  # records in flight at the begin of this instant

    @classmethod
    def of(cls, n: int) -> "InstantLimit":
        """Return the limit of records at one instant for n nodes; interpreted handlers have a lower
        limit.
        """
        each, beside = _MOST_AT_ONCE[bool(numba.config.DISABLE_JIT)]
        return cls(most=each * n + beside)

    def check(self, at: float, handled: int, in_flight: int, system: str) -> None:
        """Compare the time of the simulation's next record with its time at the last check.

        handled: records so far. in_flight: records now. All records in flight may be due at one
        instant, because nodes that were paused resume. Raises Problem if many more records are.
        """
        if at > self.at:
            self.at, self.first, self.waiting = at, handled, in_flight
        elif handled - self.first > self.most + self.waiting:
            what = f"more than {self.most:,} records at {at:g} s, and time does not advance"
            remedy = "a node sends itself a timer of 0 s again and again: use a delay above 0"
            raise Problem(what, where=system, remedy=remedy)
