"""Loads of the CSMA radio: saturated and Poisson senders, one domain and hidden nodes."""

from typing import Any, NamedTuple

import numpy as np

from halfway.core.compiler.lent import Lender
from halfway.sim.engine import loop
from halfway.sim.engine.changes import no_changes
from halfway.sim.engine.state import RECEIVED, SENT, Engine, RecordTraits, new_engine
from halfway.sim.radio.csma import Csma, Timing, csma
from halfway.world.graphs.network import Network
from tests.networks import from_links, line
from tests.sim.engine import script
from tests.sim.radio.slow_csma import RECORD_BYTES

Command = tuple[float, int, int, int]  # (time, row, to or -1, relays)


class Saturated(NamedTuple):
    """The result of a saturated load."""

    received: (
        float  # receptions over transmissions, and over the number of receivers of a broadcast
    )
    busy: float  # share of time with something on the air
    frames: int  # transmissions


def play(
    network: Network, radio: Csma, commands: list[Command], until: float = np.inf, **capacity: Any
) -> Engine:
    """Run commands until a time, in a pool that never needs to grow."""
    n, neighbourhood = network.n, network.neighbourhood()
    engine = new_engine(
        n, 2 * len(commands) + 64, 1, records=RecordTraits(sizes=RECORD_BYTES), **capacity
    )
    lend = Lender()
    for event, (at, row, to, relays) in enumerate(commands):
        loop.post(engine, at, row, script.SEND, to, relays, event, lend)
    why = loop.run(
        script.ScriptState(np.zeros(n, np.int64)), script.Rules(0.0), neighbourhood, engine, radio,
        neighbourhood, False, no_changes(), until, loop.UNLIMITED, n,
    )  # fmt: skip
    assert why in (loop.IDLE, loop.UNTIL)
    return engine


def domain(n: int) -> Network:
    """A complete graph."""
    return from_links(n, [(a, b) for a in range(n) for b in range(a + 1, n)])


def saturated(
    n: int, timing: Timing, seconds: float, seed: int, unicast: bool = False
) -> Saturated:
    """All nodes of one domain always have a frame to send, to all or each to the next."""
    frame = (timing.header_bytes + RECORD_BYTES) * 8 / timing.bit_rate
    # Enough frames even if a few nodes transmit at a time, as in large domains.
    each = int((3 + n / 8) * seconds / (frame + timing.difs_s) / n) + 20
    radio = csma(n, seed, timing._replace(queue_limit=each))
    commands = [(0.0, i, (i + 1) % n if unicast else -1, 0) for i in range(n) for _ in range(each)]
    engine = play(domain(n), radio, commands, until=seconds)
    assert radio.station["length"].min() > 0, "a queue ran empty"
    sent, received = (int(engine.counters.traffic[:, k].sum()) for k in (SENT, RECEIVED))
    busy = float(radio.station[0].sending_s + radio.station[0].hearing_s) / seconds
    return Saturated(received / sent / (1 if unicast else n - 1), busy, sent)


def hidden(timing: Timing, seconds: float, seed: int, rate: float = 0.0) -> float:
    """Share of broadcasts from the two ends of a line that the node between them receives.

    rate: of Poisson arrivals at each end (1/s); 0 if both always have a frame to send.
    """
    frame = (timing.header_bytes + RECORD_BYTES) * 8 / timing.bit_rate
    each = int(seconds / (frame + timing.difs_s)) + 20
    # Half a microsecond apart, so that no frame begins exactly at the end of another.
    commands = [(i * 2.5e-7, i, -1, 0) for i in (0, 2) for _ in range(each)]
    if rate > 0:
        commands = [command for i in (0, 2) for command in arrivals(i, -1, rate, seconds, seed)]
    radio = csma(3, seed, timing._replace(queue_limit=each))
    traffic = play(line(3), radio, commands, until=seconds).counters.traffic
    return float(traffic[1, RECEIVED] / traffic[:, SENT].sum())


def arrivals(row: int, to: int, rate: float, seconds: float, seed: int) -> list[Command]:
    """Commands at the times of a Poisson process."""
    rng = np.random.default_rng((seed, row))
    times = np.sort(rng.uniform(0, seconds, rng.poisson(rate * seconds)))
    return [(float(at), row, to, 0) for at in times]


def poisson_domain(
    n: int, timing: Timing, seconds: float, rate: float, seed: int
) -> tuple[float, float]:
    """Unicast at `rate` (1/s) from each node of one domain: share carried; share repeated."""
    commands = [
        command for i in range(n) for command in arrivals(i, (i + 1) % n, rate, seconds, seed)
    ]
    traffic = play(domain(n), csma(n, seed, timing), commands).counters.traffic
    carried, sent = int(traffic[:, RECEIVED].sum()), int(traffic[:, SENT].sum())
    return carried / len(commands), 1 - len(commands) / sent
