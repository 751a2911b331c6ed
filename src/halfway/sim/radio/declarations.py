"""Radios as a user declares them: one small structure each, made when a run begins."""

from typing import Any, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.sim.engine.records import HEARD, SENT, Engine
from halfway.sim.radio.csma import SENSORS, WIFI_A, WIFI_B, contention
from halfway.sim.radio.delays import Ideal, distances, lossy
from halfway.sim.radio.energy import Power, air_seconds
from halfway.sim.radio.wired import wired
from halfway.world.graphs.network import Network
from halfway.world.importers.link_quality import measured_success

_LONGEST_S = 1e6


class Airtime(NamedTuple):
    """How long every node sent and received, [n] seconds each."""

    sent: npt.NDArray[np.float64]
    heard: npt.NDArray[np.float64]


class _Declared(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True,
                tag_field="kind"):  # fmt: skip
    """What all declarations share."""

    def made(self, network: Network, moving: bool, seed: int) -> Any:
        """The radio for one run."""
        raise NotImplementedError

    def grown(self, radio: Any, slots: int) -> Any:
        """The same radio for a pool of so many slots."""
        del slots
        return radio

    def copies(self, widest: int) -> int:
        """Slots that one emission may need, where a node has at most so many neighbours."""
        del widest
        return 1

    def airtime(self, radio: Any, engine: Engine, power: Power) -> Airtime:
        """Counted records, each on the air for its bytes at the bit rate; nobody overhears."""
        del radio
        volume = engine.counters.volume
        if not len(volume):
            volume = engine.counters.traffic * engine.bytes_of[0]
        rate = power.bit_rate
        return Airtime(air_seconds(volume[:, SENT], rate), air_seconds(volume[:, HEARD], rate))

    def counted(self, radio: Any) -> dict[str, int]:
        """What the radio itself counted, by name."""
        del radio
        return {}


class _Quiet(_Declared, frozen=True, kw_only=True):
    """Radios without contention, each reception of which may fail on its own."""

    success: float = 1.0  # probability of a reception, over every link
    ratios: str | None = None  # or a table of links with measured ratios, …
    ratio_columns: tuple[str, ...] = ()  # … and the column of it, or the two (there, back)

    def with_losses(self, radio: Any, network: Network, moving: bool, seed: int) -> Any:
        """The radio, lossy where that is declared."""
        if not 0.0 <= self.success <= 1.0:
            raise Problem(f"radio: success = {self.success:g}: it must be from 0 to 1")
        if self.ratios is not None:
            if moving:
                raise Problem("radio: measured ratios need nodes that stand still")
            success = measured_success(network, self.ratios, self.ratio_columns)
            return lossy(radio, success * np.float32(self.success), network, seed)
        if self.success == 1.0:
            return radio
        return lossy(radio, self.success, None if moving else network, seed)


def _checked_delay(name: str, value: float) -> float:
    if not 0.0 <= value <= _LONGEST_S:
        raise Problem(f"radio: {name} = {value:g}: it must be from 0 to {_LONGEST_S:g} s")
    return float(value)


def _travel_s(network: Network, speed: float) -> npt.NDArray[np.float64]:
    """[m] seconds over each link at a speed; Problem where places or speed make no sense."""
    if network.position is None:
        raise Problem("delays by distance need a network with positions", where=network.name)
    if not 0.0 < speed < np.inf:
        raise Problem(f"radio: speed = {speed:g}: it must be positive and finite")
    rows = np.repeat(np.arange(network.n), network.degree)
    gap = network.position[rows] - network.position[network.who]
    return np.asarray(np.hypot(*gap.T) / speed)


class IdealAir(_Quiet, frozen=True, kw_only=True, tag="ideal"):
    """Everybody in reach hears everything, after the same delay (with a chance, if asked)."""

    delay_s: float = 0.004  # a record of 112 bytes is 3.6 ms on the air at 250 kb/s

    def made(self, network: Network, moving: bool, seed: int) -> Any:
        """The radio for one run."""
        delay_s = _checked_delay("delay_s", self.delay_s)
        return self.with_losses(Ideal(delay_s), network, moving, seed)


class DistanceAir(_Quiet, frozen=True, kw_only=True, tag="distance"):
    """A delay that grows with the distance: delay_s + distance / speed.

    speed in the network's units a second (where those are metres, light makes 3e8).
    """

    delay_s: float = 0.0
    speed: float

    def made(self, network: Network, moving: bool, seed: int) -> Any:
        """The radio for one run; Problem for nodes that move, or whose places nobody knows."""
        if moving:
            remedy = 'use radio kind "ideal" or "contention"'
            raise Problem("delays by distance need nodes that stand still", remedy=remedy)
        delay = _checked_delay("delay_s", self.delay_s) + _travel_s(network, self.speed)
        return self.with_losses(distances(network, delay), network, moving, seed)


class ContendedAir(_Declared, frozen=True, kw_only=True, tag="contention"):
    """A medium that neighbours share: carrier sense, random backoff, collisions, retries.

    medium: whose timing; what is given beside it replaces that number. docs/models/contention.md
    has the model and how far it lies from Bianchi's and from ns-3.
    """

    medium: Literal["wifi-b", "wifi-a", "sensors"] = "wifi-b"
    bit_rate: float | None = None  # bit/s
    cw_min: int | None = None  # slots
    cw_max: int | None = None
    retries: int | None = None  # of frames to one neighbour
    line_limit: int | None = None  # frames that a node has in line

    def made(self, network: Network, moving: bool, seed: int) -> Any:
        """The radio for one run."""
        del moving
        names = ("bit_rate", "cw_min", "cw_max", "retries", "line_limit")
        given = {name: getattr(self, name) for name in names if getattr(self, name) is not None}
        return contention(network.n, seed, _MEDIA[self.medium]._replace(**given))

    def airtime(self, radio: Any, engine: Engine, power: Power) -> Airtime:
        """Measured: sending is sending, and hearing is every moment that others are sensed."""
        del engine, power
        return Airtime(radio.station.sending_s.copy(), radio.station.hearing_s.copy())

    def counted(self, radio: Any) -> dict[str, int]:
        """Frames on the air, and what became of those that were lost."""
        words = {
            "frames": "frames",
            "acknowledgements": "answers",
            "receptions spoilt": "missed",
            "dropped, line full": "line_full",
            "dropped, never acknowledged": "unheard",
            "dropped in crashes": "flushed",
        }
        return {word: int(radio.station[name].sum()) for word, name in words.items()}


class Wires(_Declared, frozen=True, kw_only=True, tag="wired"):
    """Point-to-point links with a delay, a bandwidth and a queue for each direction.

    speed in the network's units a second (light makes 3e5 km/s): a link's length over it is added.
    """

    delay_s: float = 0.005
    speed: float = float("inf")
    bandwidth: float = 1e7  # bit/s
    limit_s: float = float("inf")  # what would wait longer than that is dropped

    def made(self, network: Network, moving: bool, seed: int) -> Any:
        """The radio for one run; Problem for nodes that move."""
        del seed
        if moving:
            raise Problem("wires need nodes that stand still", remedy='radio kind "ideal"')
        delay: Any = _checked_delay("delay_s", self.delay_s)
        if self.speed != np.inf:
            delay = delay + _travel_s(network, self.speed)
        return wired(network, delay, self.bandwidth, self.limit_s)

    def copies(self, widest: int) -> int:
        """A record for everybody is a copy into each link."""
        return widest

    def counted(self, radio: Any) -> dict[str, int]:
        """Records that found a queue too long."""
        return {"dropped, queue full": int(radio.dropped.sum())}


_MEDIA = {"wifi-b": WIFI_B, "wifi-a": WIFI_A, "sensors": SENSORS}
Radio = IdealAir | DistanceAir | ContendedAir | Wires
