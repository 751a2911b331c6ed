"""The message record: one layout in the queue, in a trace and on the wire."""

import numpy as np

# Little-endian, naturally aligned, without padding: a 48-byte header, eight integers, six reals;
# 128 bytes.
# Reals are f8: a position rounded to f4 makes face routing circle for ever.
MESSAGE = np.dtype(
    [
        ("at", "<f8"),  # time of arrival; on an emitted record the delay until it is sent
        ("kind", "<u1"),  # the protocol's own numbering, see `core.kinds`
        ("flags", "<u1"),
        ("hops", "<u2"),  # transmissions so far
        ("source", "<i4"),  # id of the node that transmitted it
        ("target", "<i4"),  # id of the node that it is finally for, if there is one
        ("next", "<i4"),  # id of the neighbour that receives it, or EVERYONE or APP
        ("topic", "<i4"),
        ("event", "<i4"),
        ("publisher", "<i4"),  # id of the node that published `event`; -1: not carried
        ("sequence", "<i4"),  # the sender's number for a hop to be acknowledged; 0: unreliable
        ("incarnation", "<u8"),  # of the sender: grows whenever it crashes or comes back
        ("args", "<i4", (8,)),
        ("reals", "<f8", (6,)),
    ]
)
# What one record counts on the air, in a queue of a link, and in the energy of a radio: the size of
# a record before headers of reliable hops were part of it. Every record counts the same.
BYTES_ON_AIR = 112

EVERYONE = np.int32(-1)  # one transmission that every neighbour hears
APP = np.int32(-2)  # up to the application of the node that emits it

# What a handler writes into `hops` of a record that begins a journey of its own, such as an event
# that was kept until now: its transmissions are counted from 0, not from the message handled. Any
# other number but 0 is that of the journey so far, from which they are counted on.
AFRESH = np.uint16(65_535)
COUNTED_ON = np.uint16(0)  # what `emit` leaves there: one more than those of the message handled

# The one of `args` that a command from an application can fill (to name one of several walks of a
# topic), so that no driver needs to know a protocol's own places.
COMMAND_ARG = 2

# The one kind that every protocol shares: the start event. The driver sends it at the start to
# protocols that declare it, and whenever a node comes back from a crash. The node's timers died
# with it, its memory did not.
START = np.uint8(255)
