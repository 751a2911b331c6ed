"""The declared radios of a scenario file, with one class for each kind; a run makes its radio from
a declaration.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import asdict

from halfway.problem import Problem
from halfway.sim.engine.counting import volume_of
from halfway.sim.engine.state import RECEIVED, SENT, Engine
from halfway.sim.radio.csma import SENSORS, WIFI_A, WIFI_B, Timing, csma
from halfway.sim.radio.delays import Ideal, distances, lossy
from halfway.sim.radio.energy import Airtime, Power, air_seconds
from halfway.sim.radio.moving_distances import moving_distances
from halfway.sim.radio.wired import wired
from halfway.world.graphs.network import Network
from halfway.world.importers.link_quality import measured_success
from halfway.world.mobility.motion import Legs

_LONGEST_S = 1e6
MotionOfRun = Callable[[], Legs]  # the legs of a whole run, computed on demand


class _Declared(
    msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, tag_field="kind"
):
    """The interface of a radio's declaration in a scenario file."""

    @property
    def draws_losses(self) -> bool:
        """Whether the declared radio draws for each reception whether it fails."""
        return False

    @property
    def loses_records(self) -> bool:
        """Whether a record on the declared radio can be lost, for any reason."""
        return self.draws_losses

    def made(self, network: Network, course: MotionOfRun | None, seed: int) -> Any:
        """Make the declared radio for one run; `course` is None if the nodes do not move.

        Raises Problem for values that do not fit.
        """
        raise NotImplementedError

    def copies(self, max_degree: int) -> int:
        """Return the number of slots that one emission on the declared radio may need, for the
        largest degree. If the number is above 1, each copy in a slot has one receiver.
        """
        del max_degree
        return 1

    def airtime(self, radio: Any, engine: Engine, power: Power) -> Airtime:
        """Return the airtime of the declared radio, computed from counted records, without
        overhearing.
        """
        del radio
        volume, rate = volume_of(engine), power.bit_rate
        return Airtime(air_seconds(volume[:, SENT], rate), air_seconds(volume[:, RECEIVED], rate))

    def counted(self, radio: Any) -> dict[str, int]:
        """Return the counters of the declared radio by name."""
        del radio
        return {}


class _WithLosses(_Declared, frozen=True, kw_only=True):
    """A declared radio with independent losses over every link."""

    success: float = 1.0  # probability of a reception, over every link
    ratios: str | None = None  # or a table of links with measured ratios, …
    ratio_columns: tuple[str, ...] = ()  # … and its column, or two columns (there, back)
    ratio_scale: float = 1.0  # the value of a perfect link in the table

    @property
    def draws_losses(self) -> bool:
        """Whether the declared radio draws losses, of its links or of a table of links."""
        return self.success < 1.0 or self.ratios is not None

    def success_of(
        self, network: Network, course: MotionOfRun | None
    ) -> npt.NDArray[np.float32] | float:
        """Return the probability of reception of the declared radio: one number for all links, or
        one per link [m].
        """
        if not 0.0 <= self.success <= 1.0:
            raise Problem(f"radio.success = {self.success:g}: expected a number from 0 to 1")
        if self.ratios is None:
            return self.success
        if course is not None:
            what = "radio.ratios: expected a network whose nodes do not move"
            raise Problem(what, remedy="use radio.success instead")
        if not 0.0 < self.ratio_scale < np.inf:
            what = f"radio.ratio_scale = {self.ratio_scale:g}: expected a positive finite number"
            raise Problem(what, remedy="give the value of a perfect link, such as 1, 100 or 255")
        ratios = measured_success(network, self.ratios, self.ratio_columns, self.ratio_scale)
        return ratios * np.float32(self.success)

    def with_losses(
        self, radio: Any, network: Network, course: MotionOfRun | None, seed: int
    ) -> Any:
        """Return a collision-free radio with the losses of the declaration, if it has any."""
        success = self.success_of(network, course)
        if isinstance(success, float | int) and success == 1.0:
            return radio
        return lossy(radio, success, network if course is None else None, seed)


def _checked_delay(value: float) -> float:
    if not 0.0 <= value <= _LONGEST_S:
        raise Problem(f"radio.delay_s = {value:g}: expected 0 to {_LONGEST_S:g} s")
    return float(value)


def _checked_speed(value: float) -> float:
    if not 0.0 < value < np.inf:
        raise Problem(f"radio.speed = {value:g}: expected a positive finite number")
    return float(value)


def _travel_s(network: Network, speed: float) -> npt.NDArray[np.float64]:
    """Return the travel times [m] in seconds over links at the speed of a declared radio. Raises
    Problem for unknown positions.
    """
    if network.position is None:
        what = "the nodes have no positions: expected positions, because distances give the delays"
        raise Problem(what, where=network.name)
    rows = np.repeat(np.arange(network.n), network.degree)
    gap = network.position[rows] - network.position[network.who]
    return np.asarray(np.hypot(*gap.T) / _checked_speed(speed))


class IdealRadio(_WithLosses, frozen=True, kw_only=True, tag="ideal"):
    """The declaration of the ideal radio, a unit disk: each node in reach receives a record after
    the same delay, or loses it.
    """

    delay_s: float = 0.004  # the longest frame of 802.15.4, 127 bytes, is 4.1 ms on the air

    def made(self, network: Network, course: MotionOfRun | None, seed: int) -> Any:
        """Make the declared ideal radio for one run."""
        delay_s = _checked_delay(self.delay_s)
        return self.with_losses(Ideal(delay_s), network, course, seed)


class DistanceRadio(_WithLosses, frozen=True, kw_only=True, tag="distance"):
    """The declaration of the distance radio, whose delay grows with the distance: delay_s +
    distance / speed.

    speed: units of the network per second (for light and metres, 3e8).
    """

    delay_s: float = 0.0
    speed: float

    def made(self, network: Network, course: MotionOfRun | None, seed: int) -> Any:
        """Make the declared distance radio for one run. Raises Problem for unknown positions."""
        delay_s = _checked_delay(self.delay_s)
        if course is not None:
            success = float(self.success_of(network, course))  # `ratios` need a static network
            return moving_distances(course(), delay_s, _checked_speed(self.speed), success, seed)
        delay = delay_s + _travel_s(network, self.speed)
        return self.with_losses(distances(network, delay), network, course, seed)


class CsmaRadio(_WithLosses, frozen=True, kw_only=True, tag="contention"):
    """The declaration of the CSMA radio: a shared medium, carrier sense, random backoff,
    collisions, retries.

    medium: the preset of the timing; the other fields override single values of the preset.
    docs/models/contention.md has the model and compares it with Bianchi's and with ns-3.
    """

    medium: Literal["wifi-b", "wifi-a", "sensors"] = "wifi-b"
    bit_rate: float | None = None  # bit/s
    cw_min: int | None = None  # slots
    cw_max: int | None = None
    retries: int | None = None  # of frames to one neighbour
    queue_limit: int | None = None  # frames that a node queues

    @property
    def loses_records(self) -> bool:
        """Whether a record can be lost: always, as a node gives a frame up after some attempts."""
        return True

    def made(self, network: Network, course: MotionOfRun | None, seed: int) -> Any:
        """Make the declared CSMA radio for one run."""
        return csma(network.n, seed, self.timing, self.success_of(network, course))

    @property
    def timing(self) -> Timing:
        """The timing of a declared CSMA radio: the preset, except the fields that the file sets."""
        values = asdict(self)
        given = {name: values[name] for name in Timing._fields if values.get(name) is not None}
        return _MEDIA[self.medium]._replace(**given)

    def exchange_s(self, record_bytes: float) -> float:
        """Return the mean seconds that a declared CSMA radio needs for a frame and its
        acknowledgement on an idle medium.
        """
        one = self.timing
        air_s = (one.header_bytes + record_bytes + one.ack_bytes) * 8.0 / one.bit_rate
        return one.difs_s + one.cw_min / 2.0 * one.slot_s + air_s + one.sifs_s

    def airtime(self, radio: Any, engine: Engine, power: Power) -> Airtime:
        """Return the measured airtime of a declared CSMA radio: a node receives whenever it senses
        a transmission.
        """
        del engine, power
        return Airtime(radio.station.sending_s.copy(), radio.station.hearing_s.copy())

    def counted(self, radio: Any) -> dict[str, int]:
        """Return the counters of a declared CSMA radio: frames on the air, and frames lost by
        reason.
        """
        words = {
            "frames": "frames",
            "acknowledgements": "acks",
            "receptions corrupted": "corrupted_receptions",
            "dropped, queue full": "queue_full",
            "dropped, never acknowledged": "unacknowledged",
            "dropped in crashes": "lost_in_crashes",
        }
        return {word: int(radio.station[name].sum()) for word, name in words.items()}


class WiredRadio(_Declared, frozen=True, kw_only=True, tag="wired"):
    """The declaration of the wired radio, in which each direction of a link has a delay, a
    bandwidth and a queue.

    speed: units of the network per second (light: 3e5 km/s); the length of a link, divided by this
    speed, is added to its delay.
    """

    delay_s: float = 0.005
    speed: float = float("inf")
    bandwidth: float = 1e7  # bit/s
    limit_s: float = float("inf")  # a record that would wait longer is dropped

    @property
    def loses_records(self) -> bool:
        """Whether a declared wired radio can lose a record, because its wait has a limit."""
        return self.limit_s < np.inf

    def made(self, network: Network, course: MotionOfRun | None, seed: int) -> Any:
        """Make the declared wired radio for one run. Raises Problem for moving nodes."""
        del seed
        if course is not None:
            what = 'radio.kind = "wired": expected a static network'
            raise Problem(what, remedy='use radio kind "ideal"')
        delay: Any = _checked_delay(self.delay_s)
        if self.speed != np.inf:
            delay = delay + _travel_s(network, self.speed)
        return wired(network, delay, self.bandwidth, self.limit_s)

    def copies(self, max_degree: int) -> int:
        """Return the number of slots of one emission on the declared wired radio: a broadcast needs
        one copy for each link.
        """
        return max_degree

    def counted(self, radio: Any) -> dict[str, int]:
        """Return the counters of a declared wired radio: the records that it dropped because their
        wait would be too long.
        """
        return {"dropped, queue full": int(radio.dropped.sum())}


_MEDIA = {"wifi-b": WIFI_B, "wifi-a": WIFI_A, "sensors": SENSORS}
Radio = IdealRadio | DistanceRadio | CsmaRadio | WiredRadio
