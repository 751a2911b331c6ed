"""The replay window of a session: every counter is accepted once, within 1,024 of the highest."""

WINDOW = 1024
_MASK = (1 << WINDOW) - 1


class ReplayWindow:
    """The counters that were accepted. first: lower counters are never accepted."""

    def __init__(self, first: int = 0) -> None:
        self._highest, self._first = first - 1, first
        self._accepted = 0  # bit i: the counter `highest - i` was accepted

    def is_new(self, counter: int) -> bool:
        """Whether a counter was neither accepted before nor is too old to know."""
        behind = self._highest - counter
        if behind < 0:
            return True
        return behind < WINDOW and counter >= self._first and not self._accepted >> behind & 1

    def accept(self, counter: int) -> None:
        """Accept a counter that `is_new`, once its datagram is authentic."""
        ahead = counter - self._highest
        if ahead <= 0:
            self._accepted |= 1 << -ahead
            return
        self._accepted = (self._accepted << ahead & _MASK | 1) if ahead < WINDOW else 1
        self._highest = counter
