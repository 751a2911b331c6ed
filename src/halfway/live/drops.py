"""The drops of a live node: datagrams, frames, records and events, each counted under a reason."""

from collections import Counter
from enum import StrEnum


class Drop(StrEnum):
    """A reason for a drop; the list is fixed, so that a metric has few labels."""

    NOT_AUTHENTIC = "not authentic"  # the security refused the datagram
    BAD_FRAME = "bad frame"  # no frame, or a frame that ends too early
    UNKNOWN_FRAME = "unknown frame"  # a datagram of a later version
    STRANGER = "no neighbour"  # a record from a node that is not a neighbour
    UNREADABLE = "unreadable record"  # a record that is not in canonical form
    REFUSED = "record refused"  # a record that the check at the door refused
    WRONG_SENDER = "wrong sender"  # a record with another sender than its datagram
    FULL = "no room for records"
    NO_SESSION = "no session"  # with the receiver
    NO_ADDRESS = "no neighbour to send to"
    QUEUE = "send queue full"
    SHARE = "over its share"  # datagrams of a neighbour that sends more than the node can process
    PUBLISHER = "publisher over its share"  # events from a neighbour that is over its share
    NEW_PUBLISHER = "too many new publishers"  # events of publishers that a neighbour names
    KERNEL = "socket buffer full"  # datagrams that the kernel counts
    HELD_FULL = "too many records wait for a body"
    NO_BODY = "body missing"  # the body of the event never arrived
    BODIES_FULL = "body forgotten"  # for want of room
    TOPICS_FULL = "topics full"
    EXPIRED = "expired"
    NOT_PERMITTED = "not permitted"
    UNMATCHED = "published outside the overlay"
    SLOW_SUBSCRIBER = "slow subscriber"  # a full queue of the node itself
    NOT_HEARD = "too many nodes heard"
    SEARCHES = "too many searches"  # routes to nodes
    FRAGMENTS = "fragments incomplete"
    OLD_VALUE = "older than the retained value"  # which the applications have already
    RETAINED_FULL = "retained values full"
    NOT_KEPT = "journal refused"  # a kept event of another node, which comes again
    TRACE = "trace not written"  # rows that the disk did not take
    DUPLICATE = "duplicate"  # an application has the event already


class Drops:
    """The counts of one node's drops, by reason."""

    def __init__(self) -> None:
        self._count: Counter[str] = Counter()

    def count(self, why: Drop, number: int = 1) -> None:
        """Count dropped items by their reason."""
        if number:
            self._count[str(why)] += number

    def set(self, why: Drop, number: int) -> None:
        """Set the count of a reason for drops that the kernel counts."""
        if number:
            self._count[str(why)] = number

    def by_reason(self) -> dict[str, int]:
        """Return the counts of drops above 0, by reason."""
        return {str(why): self._count[str(why)] for why in Drop if self._count[str(why)]}
