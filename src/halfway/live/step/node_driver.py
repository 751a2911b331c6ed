"""The driver of a live node, and the interface to its surroundings: commands, timers and records
in, frames and reports out.

The driver has no clock and no socket. Its caller passes the time, and receives the output. The
caller is a node on a socket, or the memory bed of the tests with its own clock.
"""

from typing import Any, Protocol

from halfway.core.driver import TO_APPLICATION, TO_NETWORK
from halfway.live.step.datagram_kernel import DONE, FULL, LEFT, OTHER, REFUSED
from halfway.live.step.emission import Emission, NoCapacity
from halfway.live.step.node_stepper import Stepper
from halfway.live.step.timers import Timers


class Surroundings(Protocol):
    """The interface of a live node's driver to its surroundings: the network and the
    application.
    """

    def transmit(self, record: Any, data: bytes) -> None:
        """Let the surroundings of a driver transmit a record to the neighbour `record.next`, or to
        all of them.

        data: the content of a RECORD frame. After the call the record belongs to the driver again.
        """
        ...

    def report(self, record: Any) -> None:
        """Let the surroundings of a driver take a report for the application; after the call the
        report belongs to the driver.
        """
        ...

    def timer_ran(self) -> None:
        """Let the surroundings of a driver know that one of its timers has run; the output waits
        for the end of the turn.
        """
        ...

    def count_full(self) -> object:
        """Let the surroundings of a driver know that it dropped a command, a record or a timer for
        want of room.
        """
        ...

    def refused(self) -> object:
        """Let the surroundings of a driver know that `Driver.handle_frames` met a record that is
        unreadable or refused at the door.
        """
        ...


class Driver:
    """The driver of one live node. It drops items without room, and counts them in `dropped`.

    All times are times of the caller's clock. A caller may run many drivers on the same timers.
    ages_in_flight: whether ages on the wire are relative to a clock that all nodes share, as in the
    memory bed. Otherwise a record has its age at its departure, and the receiver adds
    `travelled_s` and hop_age_s.
    """

    def __init__(
        self,
        stepper: Stepper,
        surroundings: Surroundings,
        timers: Timers,
        ages_in_flight: bool = False,
        hop_age_s: float = 0.0,
    ) -> None:
        self.stepper, self._around, self._timers = stepper, surroundings, timers
        self._hop_age_s = hop_age_s
        self._shared_clock, self._now = ages_in_flight, 0.0
        self._life = 0  # timers of an earlier life are void
        self.dropped = 0

    def command(
        self, now: float, kind: int, topic: int = -1, arg: int = 0, event: int = -1
    ) -> bool:
        """Let the driver's node handle a command. Return False if it is refused, or there is no
        room.
        """
        self._set_time(now)
        try:
            accepted = self.stepper.command(kind, topic, arg, event)
        except NoCapacity:
            return self._drop()
        self._pass_on()
        return accepted

    def receive(self, now: float, data: bytes, topics: list[int], travelled_s: float = 0.0) -> bool:
        """Let the driver's node handle a compact record.

        Return False if it is refused, or there is no room.
        """
        self._set_time(now, travelled_s)
        try:
            accepted = self.stepper.receive(data, topics)
        except NoCapacity:
            return self._drop()
        self._pass_on()
        return accepted

    def handle_frames(self, now: float, peer: int, frames: bytes, at: int) -> int:
        """Let the node of the driver handle a peer's frames from an offset on, in machine code.

        Return the place of the first frame for the caller, or the end. A compiled node takes most
        frames.
        """
        stepper, flow = self.stepper, self.stepper.flow
        if flow is None or not stepper.compiled or peer not in flow.place_of:
            return at
        self._set_time(now)
        place, why = flow.place_of[peer], DONE
        while at < len(frames) and why != OTHER:
            at, why = stepper.handle_frames(place, frames, at)
            if why == LEFT:
                self._pass_on(is_sent=True)
            elif why == REFUSED:
                self._around.refused()
            elif why == FULL and not self._has_capacity():
                break
        return at

    def _has_capacity(self) -> bool:
        """Make room for a step of the driver; without room, `receive` drops and counts the
        record.
        """
        try:
            self.stepper.make_room()
        except NoCapacity:
            return False
        return True

    def _drop(self) -> bool:
        self.dropped += 1
        self._around.count_full()
        return False

    def restart(self) -> None:
        """Void all waiting records and timers in the driver of a node, as a crash does. The node's
        memory stays.
        """
        self._life += 1
        self.stepper.release_all()

    def _set_time(self, now: float, travelled_s: float = 0.0) -> None:
        self._now = now
        if self._shared_clock:
            self.stepper.set_time(now)
        else:
            self.stepper.set_time(now, into=travelled_s + self._hop_age_s - now, out_of=now)

    def _pass_on(self, *, is_sent: bool = False) -> None:
        """Pass on the records that the driver's node emitted, in the order of their emission."""
        if not is_sent and self.stepper.flow is not None and self.stepper.compiled:
            self.stepper.send_emissions()
        for emission in self.stepper.emissions():
            if emission.data:
                self._around.transmit(self.stepper.pool[emission.slot], emission.data)
                self.stepper.release(emission.slot)
            elif (
                emission.to == TO_APPLICATION
                and emission.at <= self._now
                and not self._shared_clock
            ):
                self._around.report(self.stepper.pool[emission.slot])
                self.stepper.release(emission.slot)
            else:
                self._timers.push(emission.at, self._due, (self._life, emission))

    def _due(self, now: float, timer: tuple[int, Emission]) -> None:
        """Continue with a record that waited in the driver, unless the node has been down since."""
        life, one = timer
        if life == self._life:
            self._set_time(now)
            self._go_on(one)
            self._around.timer_ran()

    def _go_on(self, emission: Emission) -> None:
        if emission.to == TO_NETWORK:
            self.stepper.emit_waiting(emission.slot)
            self._pass_on()
        elif emission.to == TO_APPLICATION:
            self._around.report(self.stepper.pool[emission.slot])
            self.stepper.release(emission.slot)
        else:
            try:
                self.stepper.wake(emission.slot)
            except NoCapacity:
                self._drop()
                self.stepper.release(emission.slot)
                return
            self._pass_on()
