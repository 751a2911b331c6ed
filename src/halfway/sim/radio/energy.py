"""What a run costs in joules: time on the air, time listening to it, time waiting."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem


class Power(NamedTuple):
    """What a node draws. By default a CC2420 at 3 V, 0 dBm and 250 kb/s (its datasheet).

    idle_w is what a node draws while it neither sends nor receives; the default is the chip's idle
    mode, that is a duty cycle which costs nothing itself. A node that is down draws nothing.
    """

    tx_w: float = 0.0522
    rx_w: float = 0.0591
    idle_w: float = 0.00128
    bit_rate: float = 250_000.0  # for radios that have none of their own


class Energy(NamedTuple):
    """Joules of every node, [n] each."""

    tx: npt.NDArray[np.float64]
    rx: npt.NDArray[np.float64]
    idle: npt.NDArray[np.float64]

    @property
    def total(self) -> npt.NDArray[np.float64]:
        """[n] all of it."""
        return np.asarray(self.tx + self.rx + self.idle)


def checked(power: Power) -> Power:
    """The same; Problem for a power that is negative or a bit rate that is none."""
    for name, value in power._asdict().items():
        if not 0.0 <= value < np.inf or (name == "bit_rate" and value == 0.0):
            raise Problem(f"{name} = {value:g}: it must be positive and finite")
    return power


def spent(
    power: Power,
    tx_s: npt.NDArray[np.float64],
    rx_s: npt.NDArray[np.float64],
    up_s: npt.NDArray[np.float64],
) -> Energy:
    """Energy of nodes [n] that sent, received and were up for so many seconds each."""
    idle_s = np.maximum(up_s - tx_s - rx_s, 0.0)
    return Energy(tx_s * power.tx_w, rx_s * power.rx_w, idle_s * power.idle_w)


def air_seconds(volume: npt.NDArray[np.int64], bit_rate: float) -> npt.NDArray[np.float64]:
    """How long so many bytes are on the air."""
    return np.asarray(volume * 8.0 / bit_rate)
