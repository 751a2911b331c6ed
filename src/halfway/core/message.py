"""The layout of a record, which is the same in the queue and in a trace."""

import numpy as np

# Little-endian, naturally aligned, without padding: a 48-byte header, eight integers, six reals;
# 128 bytes. Reals are f8, because face routing circles for ever on positions that are rounded to
# f4.
RECORD = np.dtype(
    [
        ("at", "<f8"),  # time of arrival; on an emitted record the delay until it is sent
        ("kind", "<u1"),  # the protocol's own numbering, see `core.kinds`
        ("flags", "<u1"),
        ("hops", "<u2"),  # transmissions so far
        ("source", "<i4"),  # id of the node that transmitted the record
        ("target", "<i4"),  # id of the final destination, if there is one
        ("next", "<i4"),  # id of the neighbour that receives the record, or EVERYONE or APP
        ("topic", "<i4"),
        ("event", "<i4"),  # the publisher's own number of the event, from 0 in order; -1: none
        ("publisher", "<i4"),  # id of the node that published `event`; -1: not carried
        ("sequence", "<i4"),  # the sender's number for a hop to be acknowledged; 0: unreliable
        ("epoch", "<u4"),  # the incarnation in which the publisher published `event`
        ("incarnation", "<u4"),  # incarnation of the sender: grows with each loss of memory
        ("args", "<i4", (8,)),
        ("reals", "<f8", (6,)),
    ]
)

MOST_ATTRIBUTES = 6  # of an event; its values take the `reals` of a record
EVERYONE = np.int32(-1)  # one transmission that every neighbour hears
APP = np.int32(-2)  # the application of the node that emits the record

# A handler writes AFRESH into `hops` of a record, such as an event that it had buffered: the count
# of its transmissions starts at 0. `emit` leaves COUNTED_ON: the count of the handled record
# continues. Any other number is the count so far.
AFRESH = np.uint16(65_535)
COUNTED_ON = np.uint16(0)

# The place of `args` that a command of an application can fill, for example with the last topic of
# an interval. So drivers do not depend on the places of a protocol.
COMMAND_ARG = 2

# The start event is the kind that all protocols share. The driver sends it, to protocols that
# declare it, at the start and whenever a node comes back from a crash. The crash ended the timers
# of the node. The memory is lost only if the incarnation has grown.
START = np.uint8(255)
