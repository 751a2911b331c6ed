"""A medium that neighbours share: they listen before they send, back off, and collide all the same.

CSMA/CA on the unit disk: a node senses whom it could hear, no further, and no capture. The model,
its readings and its distance to independent sources stand in docs/models/contention.md.
"""

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.prng import seeded
from halfway.problem import Problem
from halfway.sim.engine.interface import declare
from halfway.sim.radio.csma_exchange import arrive, depart
from halfway.sim.radio.csma_sensing import changed

__all__ = ["SENSORS", "STATION", "WIFI_A", "WIFI_B", "Contention", "Timing", "contention"]


class Timing(NamedTuple):
    """The scalars of the medium, the same at every node."""

    bit_rate: float  # bit/s, of everything that is sent
    slot_s: float  # one step of the countdown
    sifs_s: float  # between a frame and its acknowledgement
    difs_s: float  # silence before a countdown goes on
    sense_s: float  # a transmission that began less than this ago is not sensed yet
    cw_min: int  # slots; a frame's first backoff is uniform in 0 … cw_min
    cw_max: int  # slots; the window doubles up to here
    retries: int  # attempts beyond the first, for frames with an acknowledgement
    header_bytes: float  # what PHY and MAC add to every record, as bytes at the bit rate
    ack_bytes: float  # a whole acknowledgement, as bytes at the bit rate
    line_limit: int  # frames that a node has in line; what comes beyond is dropped


# 802.11b at its base rate, at which broadcasts are sent: 192 us of preamble and PHY header are 24
# bytes; 24 of MAC header, 4 of checksum, 8 of LLC; an acknowledgement has 14 after its preamble.
WIFI_B = Timing(1e6, 20e-6, 10e-6, 50e-6, 15e-6, 31, 1023, 6, 60, 38, 1000)
# 802.11a at 12 Mbit/s: 20 us of preamble are 30 bytes; then 36 of headers as above, and what fills
# the last symbol of a frame with the usual 112 bytes: 124 us in all.
WIFI_A = Timing(12e6, 9e-6, 16e-6, 34e-6, 4e-6, 15, 1023, 6, 74, 48, 1000)
# 802.15.4 at 2.4 GHz: its rate, backoff period, turnaround, long spacing and windows. We freeze the
# countdown as 802.11 does, because one rule for all media keeps their comparison plain.
SENSORS = Timing(250e3, 320e-6, 192e-6, 640e-6, 128e-6, 7, 31, 3, 17, 11, 1000)


# One record a node: what the medium knows of it, then what was counted.
STATION = np.dtype(
    [
        ("head", "<i8"),  # slot of the frame it contends for, -1 with nothing to send
        ("tail", "<i8"),  # slot of the last frame in its line
        ("length", "<i8"),  # frames in its line, the head included
        ("busy", "<i8"),  # neighbours that are sending now
        ("on_air", "<i8"),  # slot of what it is sending itself, -1 if it is not
        ("hearing", "<i8"),  # slot of what it began to receive, -1 for nothing
        ("remaining", "<i8"),  # slots left when the countdown began or froze
        ("begin", "<f8"),  # seconds, when the countdown began
        ("access_at", "<f8"),  # seconds, when it ends
        ("cw", "<i8"),  # slots, the window of the head
        ("attempts", "<i8"),  # how often the head was sent
        ("quiet_at", "<f8"),  # seconds, when all around it, and itself, fell silent
        ("since", "<f8"),  # seconds, up to when its time is accounted for
        ("dice", "<u8"),  # a stream for each node, so that no order among nodes matters
        ("counting", "<i4"),  # 1 while its countdown runs
        ("spoilt", "<i4"),  # 1 if something overlapped with what it began to receive
        ("frames", "<i8"),  # sent, repetitions and acknowledgements included
        ("answers", "<i8"),  # acknowledgements among them
        ("missed", "<i8"),  # whole frames around it, while it was up, that it did not make out
        ("line_full", "<i8"),  # frames dropped because its line was full
        ("unheard", "<i8"),  # frames given up because no acknowledgement came
        ("flushed", "<i8"),  # frames lost from its line in crashes
        ("sending_s", "<f8"),  # seconds that it was up and sending
        ("hearing_s", "<f8"),  # seconds that it was up, sensed others and did not send
    ]
)


class Contention(NamedTuple):
    """A contended medium for one run: parameters, and the state of every node."""

    timing: Timing
    station: npt.NDArray[np.void]  # [n] STATION, as a record array
    got: npt.NDArray[np.int64]  # [n] rows that made out the frame that has just ended
    tally: npt.NDArray[np.int64]  # [1] how many they are


_REALS = ("bit_rate", "slot_s", "sifs_s", "difs_s", "sense_s", "header_bytes", "ack_bytes")
_WHOLES = ("cw_min", "cw_max", "retries", "line_limit")
_BACKOFF = 0xB0FF  # the name of the backoffs' dice


def contention(n: int, seed: int, timing: Timing = WIFI_B) -> Contention:
    """A silent medium for n nodes.

    A frame of b bytes lasts (header_bytes + b) * 8 / bit_rate seconds; the engine's `bytes_of` says
    what a record has. Raises Problem for a timing under which the medium makes no sense.
    """
    _check(timing)
    station = np.zeros(n, STATION).view(np.recarray)
    for nothing in ("head", "tail", "on_air", "hearing"):
        station[nothing] = -1
    word = np.uint64(seeded(np.uint64(seed), _BACKOFF))
    station["dice"] = [seeded(word, name) for name in range(n)]
    # Plain floats and integers, so that the engine is compiled once for all timings.
    plain: dict[str, Any] = {name: float(getattr(timing, name)) for name in _REALS}
    plain |= {name: int(getattr(timing, name)) for name in _WHOLES}
    return Contention(Timing(**plain), station, np.zeros(n, np.int64), np.zeros(1, np.int64))


def _check(timing: Timing) -> None:
    for name in ("bit_rate", "slot_s", "sifs_s", "ack_bytes"):
        value = getattr(timing, name)
        if not 0 < value < np.inf:
            raise Problem(f"{name} is {value}", where="contention", remedy="give a number > 0")
    # A countdown that went on during an acknowledgement would run into it.
    if not timing.sifs_s + timing.slot_s <= timing.difs_s < np.inf:
        what = f"difs_s is {timing.difs_s}, sifs_s + slot_s are {timing.sifs_s + timing.slot_s}"
        raise Problem(what, where="contention", remedy="give difs_s >= sifs_s + slot_s")
    if not 0 <= timing.sense_s < timing.slot_s:
        what = f"sense_s is {timing.sense_s}, a slot {timing.slot_s}"
        raise Problem(what, where="contention", remedy="give 0 <= sense_s < slot_s")
    if not 0 <= timing.cw_min <= timing.cw_max < 2**31:
        what = f"the window is {timing.cw_min} to {timing.cw_max} slots"
        raise Problem(what, where="contention", remedy="give 0 <= cw_min <= cw_max < 2^31")
    for name, least in (("retries", 0), ("header_bytes", 0), ("line_limit", 1)):
        value = getattr(timing, name)
        if not least <= value < np.inf:
            raise Problem(f"{name} is {value}", where="contention", remedy=f"give >= {least}")


declare(Contention, depart, arrive, changed)
