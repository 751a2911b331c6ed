"""The position of a reader in a stream of kept events: which numbers it has."""


class StreamPosition:
    """A reader's position in a stream of kept events: all events up to `through`, and some later
    ones.
    """

    def __init__(self, through: int = 0) -> None:
        self.through = through
        self.ahead: set[int] = set()

    def has(self, number: int) -> bool:
        """Return whether the reader has a kept event of the stream."""
        return number <= self.through or number in self.ahead

    def add(self, number: int) -> None:
        """Add a kept event that the reader got."""
        self.ahead.add(number)
        self.advance(self.through)

    def advance(self, through: int) -> None:
        """Move a reader's position in a stream of kept events up to a number, and over the events
        that follow without a gap.
        """
        self.through = max(self.through, through)
        while self.through + 1 in self.ahead:
            self.through += 1
        self.ahead = {one for one in self.ahead if one > self.through}
