"""A random history of a system as a value: its run, its JSON form, and what must be delivered.

The flat oracle knows the roles only: after quiescence, each event must reach each subscriber of its
topic once, or with losses at most once, and nothing else.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any, NamedTuple
from unittest.mock import patch

import msgspec
import numpy as np

from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.environment.hello_exchange import SentHellos
from halfway.sim.environment.mobility import Motion
from halfway.sim.run_settings import Inspection, NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, LinkCut
from halfway.world.graphs.network import Network
from halfway.world.mobility.tracks import Leg, NodeTrack, traces_of
from halfway.world.workload.demand import Listed
from halfway.world.workload.named_roles import ALWAYS, BrokerPeriod, Period
from tests.networks import from_links
from tests.one_way import Direction, OneWayRadio
from tests.protocols.promises import CHANGES_S, LAST_EVENTS_S, PROMISES

CLOCKS = ClockErrors(offset_s=100.0, drift_ppm=100.0)
RADIUS = 0.6  # of unit disk graphs
WRONG = ("missing", "twice", "unasked", "refused")  # the counts of a result that should be 0

Delivery = tuple[int, int, float]  # event, row, time


class Role(NamedTuple):
    """A subscriber or a publisher of a topic, from from_s to until_s seconds; None: to the end."""

    row: int
    topic: int
    from_s: float = 0.0
    until_s: float | None = None

    @property
    def period(self) -> Period:
        """The seconds at which the role begins and ends."""
        return self.from_s, _end(self.until_s)


class Broker(NamedTuple):
    """A named broker, from from_s to until_s seconds; None: to the end."""

    row: int
    from_s: float = 0.0
    until_s: float | None = None


class History(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A history: all that determines a run of a system. Nodes are rows from 0 on."""

    why: str = ""  # it was wrong
    system: str
    seed: int  # of the run
    n: int
    links: tuple[tuple[int, int], ...] = ()  # of nodes that do not move
    positions: tuple[tuple[float, float], ...] | None = None  # of such nodes, where known
    tracks: tuple[tuple[Leg, ...], ...] | None = None  # of nodes that move
    dead: tuple[Direction, ...] = ()  # directions over which nothing arrives
    subscriptions: tuple[Role, ...]
    publications: tuple[tuple[float, int, int], ...]  # seconds, row, topic
    publishing: tuple[Role, ...] = ()  # the publishers that come or go
    brokers: tuple[Broker, ...] = ()  # the root first; (): the run draws them
    faults: tuple[Crash | LinkCut, ...] = ()
    options: dict[str, int | float]
    success: float = 1.0  # the share of receptions that succeed
    quiet_s: float  # after the last change, until each event must reach each subscriber
    clock: bool  # whether each clock has an offset and a drift of its own
    hello: bool  # whether nodes learn their neighbours from hellos; otherwise they are given

    @property
    def network(self) -> Network:
        """The network of nodes that do not move."""
        network = from_links(self.n, self.links)
        return replace(network, position=np.array(self.positions)) if self.positions else network

    @property
    def motion(self) -> Motion | None:
        """The motion of nodes that move."""
        if self.tracks is None:
            return None
        tracks = [NodeTrack(list(legs), [(0.0, 1e6)]) for legs in self.tracks]
        return Motion(traces_of(tracks, list(map(str, range(self.n)))).legs, RADIUS)

    @property
    def demand(self) -> Listed:
        """The roles and publications as the demand of a run."""
        brokers = [BrokerPeriod(row, from_s, _end(end)) for row, from_s, end in self.brokers]
        return Listed(
            [(one.row, one.topic) for one in self.subscriptions], list(self.publications),
            periods=_periods(self.subscriptions), publishing_periods=_periods(self.publishing),
            brokers=tuple(brokers),
        )  # fmt: skip


class Result(NamedTuple):
    """What a history delivered."""

    due: int  # notifications of the events after quiescence
    missing: int  # of them
    twice: int  # deliveries of an event to a node that never lost its memory, but for the first
    unasked: int  # deliveries without a subscription, or published long before it began
    refused: int  # records of nodes that the check at the door refused


def roles_of(pairs: Iterable[tuple[int, int]], periods: Mapping[Any, Period]) -> tuple[Role, ...]:
    """The roles (row, topic) with their periods."""
    spans = ((*pair, *periods.get(pair, ALWAYS)) for pair in pairs)
    return tuple(Role(row, topic, from_s, _until(end)) for row, topic, from_s, end in spans)


def brokers_of(demand: Listed) -> tuple[Broker, ...]:
    """The brokers that a demand names."""
    return tuple(Broker(row, from_s, _until(end)) for row, from_s, end in demand.brokers)


def links_of(network: Network) -> tuple[tuple[int, int], ...]:
    """The links (a, b) of a network, with a < b."""
    rows = range(network.n)
    return tuple((a, b) for a in rows for b in network.neighbours(a).tolist() if a < b)


def positions_of(network: Network) -> tuple[tuple[float, float], ...] | None:
    """The positions of the nodes of a network, where known."""
    if network.position is None:
        return None
    return tuple((x, y) for x, y in network.position.tolist())


def written(history: History) -> str:
    """A history as JSON, with one line for each field that is not the default."""
    defaults = {field.name: field.default for field in msgspec.structs.fields(History)}
    fields = msgspec.structs.asdict(history).items()
    lines = [
        f'  "{name}": {msgspec.json.encode(value).decode()}'
        for name, value in fields
        if value != defaults[name]
    ]
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read(text: str) -> History:
    """A history from its JSON form; raises `msgspec.ValidationError`."""
    return msgspec.json.decode(text, type=History)


def run_of(history: History) -> Simulation:
    """The run of a history, not begun. Raises Problem for a history that cannot run."""
    motion, arrives_s = history.motion, PROMISES[history.system].arrives_s
    return Simulation(
        history.system, None if motion else history.network, motion=motion,
        workload=history.demand, seed=history.seed, options=history.options, stretch=False,
        seconds=CHANGES_S + history.quiet_s + LAST_EVENTS_S + arrives_s, faults=history.faults,
        radio=OneWayRadio(delay_s=0.001, success=history.success, dead=history.dead),
        nodes=NodeSettings(clock=CLOCKS if history.clock else None),
        hello=SentHellos() if history.hello else None, inspection=Inspection(check=True),
    )  # fmt: skip


def deliveries_of(run: Simulation) -> list[Delivery]:
    """Run a history; all deliveries to applications."""
    counted, found = run.deliveries, list[Delivery]()
    count = counted.enter_notifications

    def deliver(event: Any, row: Any, at: Any, hops: Any) -> None:
        found.extend(zip(event.tolist(), row.tolist(), at.tolist(), strict=True))
        count(event, row, at, hops)

    counted.delivery_log = []
    with patch.object(counted, "enter_notifications", deliver):
        run.run()
    return found


def judged(history: History, run: Simulation, found: Sequence[Delivery]) -> Result:
    """Compare the deliveries of a history with the oracle."""
    promise, demand = PROMISES[history.system], history.demand
    quiet = run.seconds - promise.arrives_s - LAST_EVENTS_S
    published = sorted(demand.publications, key=itemgetter(0))
    crashes = [fault for fault in history.faults if isinstance(fault, Crash)]
    lost = {fault.node for fault in crashes if fault.memory == "lost"}
    # An application that subscribes to what it publishes may receive it, and needs not.
    others = [one for one in found if published[one[0]][1] != one[1]]
    due = {event: due for event, at, due in run.deliveries.publication_log if at >= quiet}
    reached = {(event, row) for event, row, _ in others if event in due}
    kept = [(event, row) for event, row, _ in others if row not in lost or event in due]
    unasked = 0
    for event, row, at in others:
        role = (row, published[event][2])
        begin, end = demand.periods.get(role, ALWAYS)
        too_old = published[event][0] + promise.arrives_s < begin and not promise.keeps_events
        unasked += role not in demand.subscriptions or not begin <= at <= end or too_old
    whole = sum(due.values())
    refused = int(run.engine.checks.refused.sum())
    return Result(whole, whole - len(reached), len(kept) - len(set(kept)), unasked, refused)


def result_of(history: History) -> Result:
    """Run a history and compare it with the oracle."""
    run = run_of(history)
    return judged(history, run, deliveries_of(run))


def wrongs_of(history: History, result: Result) -> tuple[str, ...]:
    """The counts of a result, of `WRONG`, that break the promise of the history's system.

    A delivery without a subscription may lower `missing` below 0.
    """
    promised = PROMISES[history.system].delivers and history.success == 1.0
    counts = result._asdict()
    return tuple(name for name in WRONG if counts[name] > 0 and (promised or name != "missing"))


def failure_of(history: History) -> str:
    """What a history does wrong; "" if nothing."""
    result = result_of(history)
    return f"seed {history.seed}: {result}" if wrongs_of(history, result) else ""


def _periods(roles: Iterable[Role]) -> dict[tuple[int, int], Period]:
    return {(one.row, one.topic): one.period for one in roles if one.period != ALWAYS}


def _end(until_s: float | None) -> float:
    return np.inf if until_s is None else until_s


def _until(end: float) -> float | None:
    return None if end == np.inf else end
