"""The emission of a live node: one record that its handler emitted, on its way to the driver."""

from typing import NamedTuple


class Emission(NamedTuple):
    """One record that the handler of a live node emitted in a step."""

    to: int  # TO_APPLICATION, TO_SELF or TO_NETWORK
    at: float  # seconds: due time; the time of the step if it leaves at once
    slot: int  # the caller frees it
    data: bytes  # a RECORD frame's content, of a record that leaves at once; else empty


class NoCapacity(Exception):
    """The error that a node has as many waiting records as its limit allows."""
