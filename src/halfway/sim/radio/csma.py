"""The CSMA radio of a run, as a value: the timing of the medium, and the state of carrier sensing,
backoff and exchange at each node.

CSMA/CA on the unit disk: a node senses exactly the nodes in reach, and there is no capture. The
model, its interpretations and its validation are in docs/models/contention.md.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.core.prng import seeded
from halfway.problem import Problem
from halfway.sim.engine.radio_interface import LOSSES, declare
from halfway.sim.radio.csma_exchange import arrive, depart
from halfway.sim.radio.csma_sensing import changed


class Timing(NamedTuple):
    """The timing of the CSMA radio, equal at every node."""

    bit_rate: float  # bit/s, of every frame
    slot_s: float  # one step of the countdown
    sifs_s: float  # between a frame and its acknowledgement
    difs_s: float  # silence before a countdown continues
    sense_s: float  # time from the start of a transmission until nodes sense it
    cw_min: int  # slots; the first backoff of a frame is uniform in 0 … cw_min
    cw_max: int  # slots; the window doubles up to here
    retries: int  # attempts beyond the first, for frames with an acknowledgement
    header_bytes: float  # PHY and MAC headers of every record, as bytes at the bit rate
    ack_bytes: float  # a whole acknowledgement, as bytes at the bit rate
    queue_limit: int  # frames that a node queues; further ones are dropped


# 802.11b at its base rate, at which nodes send broadcasts: 192 us of preamble and PHY header are 24
# bytes; the MAC header has 24 bytes, the checksum 4, and LLC 8; an acknowledgement has 14 bytes
# after its preamble.
WIFI_B = Timing(1e6, 20e-6, 10e-6, 50e-6, 15e-6, 31, 1023, 6, 60, 38, 1000)
# 802.11a at 12 Mbit/s: 20 us of preamble are 30 bytes; then come 36 bytes of headers as above, and
# 8 bytes for the service bits and the padding of the last symbol. A frame with a record of 112
# bytes lasts 124 us, as in the standard; others last up to 3.4 us longer than in the standard.
WIFI_A = Timing(12e6, 9e-6, 16e-6, 34e-6, 4e-6, 15, 1023, 6, 74, 48, 1000)
# 802.15.4 at 2.4 GHz: its rate, backoff period, turnaround, long spacing and windows. We freeze the
# countdown as 802.11 does, because one rule for all media keeps them comparable.
SENSORS = Timing(250e3, 320e-6, 192e-6, 640e-6, 128e-6, 7, 31, 3, 17, 11, 1000)


# One record for each node ("it"): the state of the node, then its counters.
STATION = np.dtype(
    [
        ("head", "<i8"),  # slot of the frame that contends, -1: none
        ("tail", "<i8"),  # slot of the last frame in its queue
        ("length", "<i8"),  # frames in its queue, the head included
        ("busy", "<i8"),  # neighbours that are transmitting now
        ("on_air", "<i8"),  # slot of the frame it is transmitting, -1: none
        ("hearing", "<i8"),  # slot of the frame it began to receive, -1: none
        ("remaining", "<i8"),  # slots left when the countdown began or froze
        ("begin", "<f8"),  # seconds, when the countdown began
        ("access_at", "<f8"),  # seconds, when it ends
        ("cw", "<i8"),  # slots, the window of the head
        ("attempts", "<i8"),  # how often the head was transmitted
        ("silent_since", "<f8"),  # seconds, when its neighbours and itself fell silent
        ("since", "<f8"),  # seconds, up to which its time is accounted for
        ("random_state", "<u8"),  # a stream for each node, independent of the order of nodes
        ("counting", "<i4"),  # 1 while its countdown runs
        ("corrupted", "<i4"),  # 1 if a transmission overlapped with the frame it is receiving
        ("frames", "<i8"),  # transmitted, repetitions and acknowledgements included
        ("acks", "<i8"),  # acknowledgements among them
        ("corrupted_receptions", "<i8"),  # complete frames in reach that it did not receive
        ("queue_full", "<i8"),  # frames dropped because its queue was full
        ("unacknowledged", "<i8"),  # frames given up without an acknowledgement
        ("lost_in_crashes", "<i8"),  # frames lost from its queue in crashes
        ("sending_s", "<f8"),  # seconds that it was up and transmitting
        ("hearing_s", "<f8"),  # seconds that it was up, sensed others and did not transmit
    ]
)


class Csma(NamedTuple):
    """The CSMA radio of one run: the timing of the medium, and the state of every node."""

    timing: Timing
    station: npt.NDArray[np.void]  # [n] STATION, as a record array
    receivers: npt.NDArray[np.int64]  # [n] rows that received the frame that has just ended
    tally: npt.NDArray[np.int64]  # [1] number of these rows
    # [m] probability of the reception of a frame without collision, by place in `who`; [1]: equal
    # for all links; [0]: all such frames are received.
    success: npt.NDArray[np.float32]
    losses: npt.NDArray[np.uint64]  # [1] the random state of losses


_BACKOFF = 0xB0FF  # the random stream of backoffs


def csma(
    n: int, seed: int, timing: Timing = WIFI_B, success: npt.NDArray[np.float32] | float = 1.0
) -> Csma:
    """Return the CSMA radio of a run, whose medium is silent, for n nodes.

    success: the probability that a node receives a frame without collision, acknowledgements too.
    It is one number for all links, or one for each directed link [m]. A frame of b bytes lasts
    (header_bytes + b) * 8 / bit_rate seconds; `Engine.sizes` has the bytes of records. Raises
    Problem for an impossible timing.
    """
    _check(timing)
    station = np.zeros(n, STATION).view(np.recarray)
    for slot in ("head", "tail", "on_air", "hearing"):
        station[slot] = -1
    stream = np.uint64(seeded(np.uint64(seed), _BACKOFF))
    station["random_state"] = [seeded(stream, i) for i in range(n)]
    # The timing has plain floats and integers, so that the engine is compiled once for all timings.
    types = Timing.__annotations__.values()
    plain = Timing._make(of(value) for of, value in zip(types, timing, strict=True))
    share = np.atleast_1d(np.asarray(success, np.float32))
    share = share[:0] if (share == 1.0).all() else share
    losses = np.array([seeded(np.uint64(seed), LOSSES)], np.uint64)
    return Csma(plain, station, np.zeros(n, np.int64), np.zeros(1, np.int64), share, losses)


def _check(timing: Timing) -> None:
    difs_least = timing.sifs_s + timing.slot_s
    later = f"at least sifs_s + slot_s = {difs_least:g}"
    sensed = f"0 or more, below slot_s = {timing.slot_s:g}"
    for name, fits, expected in (
        ("bit_rate", 0 < timing.bit_rate < np.inf, "a finite number > 0"),
        ("slot_s", 0 < timing.slot_s < np.inf, "a finite number > 0"),
        ("sifs_s", 0 < timing.sifs_s < np.inf, "a finite number > 0"),
        ("ack_bytes", 0 < timing.ack_bytes < np.inf, "a finite number > 0"),
        # A countdown must not continue during an acknowledgement.
        ("difs_s", difs_least <= timing.difs_s < np.inf, later),
        ("sense_s", 0 <= timing.sense_s < timing.slot_s, sensed),
        ("cw_min", 0 <= timing.cw_min <= timing.cw_max, f"0 to cw_max = {timing.cw_max}"),
        ("cw_max", timing.cw_max < 2**31, "a number below 2^31"),
        ("retries", 0 <= timing.retries < np.inf, "0 or more"),
        ("header_bytes", 0 <= timing.header_bytes < np.inf, "0 or more"),
        ("queue_limit", 1 <= timing.queue_limit < np.inf, "1 or more"),
    ):
        if not fits:
            raise Problem(f"radio.{name} = {getattr(timing, name):g}: expected {expected}")


declare(Csma, depart, arrive, changed)
