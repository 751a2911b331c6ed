"""The message record: the same 112 bytes in the queue, in a trace and on the wire."""

import numpy as np

# Little-endian, naturally aligned: a 32-byte header, then eight integers and six reals.
# Reals are f8: a position rounded to f4 makes face routing circle for ever.
MESSAGE = np.dtype(
    [
        ("at", "<f8"),  # time of arrival; on an emitted record the delay until it is sent
        ("kind", "<u1"),  # the protocol's own numbering
        ("flags", "<u1"),
        ("hops", "<u2"),  # transmissions so far
        ("source", "<i4"),  # name of the node that transmitted it
        ("target", "<i4"),  # name of the node that it is finally for, where there is one
        ("next", "<i4"),  # name of the neighbour that shall hear it, or EVERYONE or APP
        ("topic", "<i4"),
        ("event", "<i4"),
        ("args", "<i4", (8,)),
        ("reals", "<f8", (6,)),
    ]
)

EVERYONE = np.int32(-1)  # one transmission that every neighbour hears
APP = np.int32(-2)  # up to the application of the node that emits it

# What a handler writes into `hops` of a record that begins a journey of its own, such as an event
# that was kept until now: its transmissions are counted from 0, not from the message handled. Any
# other number but 0 is that of the journey so far, from which they are counted on.
AFRESH = np.uint16(65_535)
COUNTED_ON = np.uint16(0)  # what `emit` leaves there: one more than those of the message handled

# The one of `args` that a letter from outside the network can fill (an application that names one
# of several things of a topic), so that no driver needs to know a protocol's own places.
LETTER_ARG = 2

# The one kind that is everybody's: a letter from whoever boots a node, at the start for protocols
# that ask for it and whenever a node comes back. Its timers died with it, its memory did not.
BOOT = np.uint8(255)
