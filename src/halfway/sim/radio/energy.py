"""The energy of a run in joules: transmitting, receiving and idle."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem


class Power(NamedTuple):
    """The electric power that a node draws; the default is a CC2420 at 3 V, 0 dBm and 250 kb/s
    (datasheet).

    A node draws idle_w while it neither transmits nor receives. The default is the idle mode of the
    chip, so the duty cycle costs nothing. A node that is down draws no power.
    """

    tx_w: float = 0.0522
    rx_w: float = 0.0591
    idle_w: float = 0.00128
    bit_rate: float = 250_000.0  # bit/s, of radios without a bit rate of their own


class Airtime(NamedTuple):
    """The airtime of each node, the basis of its energy: seconds sending and receiving, [n]
    each.
    """

    sent: npt.NDArray[np.float64]
    received: npt.NDArray[np.float64]


class Energy(NamedTuple):
    """The energy of every node in joules, [n] each."""

    tx: npt.NDArray[np.float64]
    rx: npt.NDArray[np.float64]
    idle: npt.NDArray[np.float64]

    @property
    def total(self) -> npt.NDArray[np.float64]:
        """The total energy of every node in joules, [n]."""
        return np.asarray(self.tx + self.rx + self.idle)


class Lifetime(NamedTuple):
    """The lifetime of a run's nodes: when their batteries are empty."""

    first_dead_s: float  # nan where no battery is used up
    alive: int  # nodes whose battery is not used up


class Batteries:
    """The battery capacities of a run's nodes in joules, [n]; inf is a battery that never
    empties.
    """

    def __init__(self, capacity_j: npt.ArrayLike, n: int) -> None:
        self.capacity_j = np.broadcast_to(np.asarray(capacity_j, np.float64), n).copy()
        if not (self.capacity_j > 0.0).all():
            worst = self.capacity_j[~(self.capacity_j > 0.0)][0]
            raise Problem(f"battery_j = {worst:g}: expected a number above 0")
        self._dead_at = np.full(n, np.inf)

    def used_up(self, energy_j: npt.NDArray[np.float64], at: float) -> npt.NDArray[np.int64]:
        """Return the nodes whose energy is used up since the last call, at `at` (s)."""
        dead = np.flatnonzero((energy_j >= self.capacity_j) & (self._dead_at == np.inf))
        self._dead_at[dead] = at
        return dead

    def lifetime(self, energy_j: npt.NDArray[np.float64], at: float) -> Lifetime:
        """Return when the first battery of a run became empty, and how many nodes have energy left
        at time `at` (s).
        """
        self.used_up(energy_j, at)
        first = float(self._dead_at.min())
        alive = int((self._dead_at == np.inf).sum())
        return Lifetime(first if first < np.inf else float("nan"), alive)


def checked(power: Power) -> Power:
    """Return the declared power of the energy model unchanged. Raises Problem for negative or
    infinite values, or bit rate 0.
    """
    for name, value in power._asdict().items():
        if not 0.0 <= value < np.inf or (name == "bit_rate" and value == 0.0):
            least = "above 0" if name == "bit_rate" else "of 0 or more"
            raise Problem(f"{name} = {value:g}: expected a finite number {least}")
    return power


def spent(power: Power, airtime: Airtime, up_s: npt.NDArray[np.float64]) -> Energy:
    """Return the energy in joules that nodes spent in [n] seconds of uptime, from power and
    airtime.
    """
    idle_s = np.maximum(up_s - airtime.sent - airtime.received, 0.0)
    return Energy(airtime.sent * power.tx_w, airtime.received * power.rx_w, idle_s * power.idle_w)


def air_seconds(volume: npt.NDArray[np.int64], bit_rate: float) -> npt.NDArray[np.float64]:
    """Return the airtime in seconds of a number of bytes, at the bit rate of a power model, for the
    energy.
    """
    return np.asarray(volume * 8.0 / bit_rate)
