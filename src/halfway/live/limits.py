"""The limits of a live node: the sizes of all queues and tables; items beyond a limit are
counted.
"""

from typing import NamedTuple


class Limits(NamedTuple):
    """The limits of one live node; `docs/operating.md` has a table of these limits."""

    neighbours: int = 64  # neighbours; a further node is heard, but is not a neighbour
    heard: int = 256  # nodes that are heard, with neighbours
    publishers: int = 256  # publishers whose newest events a node distinguishes
    # Newest events of a publisher that a node distinguishes; an older event counts as a duplicate.
    # If links reorder, all events that are on their way need room, repeated kept events as well.
    in_flight: int = 1024
    topics: int = 1024  # topics that a node has numbers for
    subscriptions: int = 256  # subscriptions of a node's applications
    payload: int = 65_490  # bytes of an event with its topic, as a frame has room for
    bodies: int = 4096  # bodies of events that a node keeps for its neighbours
    body_bytes: int = 16 << 20  # of all of them
    held: int = 256  # records that wait for the body of their event
    queue: int = 1024  # datagrams that wait for the socket
    # Received datagrams that wait for a busy node, by neighbour; 0: none waits, and neighbours have
    # no shares.
    waiting_bytes: int = 2 << 20
    retained: int = 1024  # retained values
    retained_bytes: int = 16 << 20  # of all of them
    overlay_links: int = 16  # of a node of the walk overlay
    mtu: int = 1232  # bytes of a datagram

    def with_door(self) -> "Limits":
        """Return the limits of a live node with an MQTT door, which has many clients."""
        return self._replace(
            subscriptions=10_000, retained=10_000, retained_bytes=64 << 20, topics=16_384
        )


DEFAULT = Limits()
