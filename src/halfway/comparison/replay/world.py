"""The world of a replay: positions, links, subscriptions and publications.

All systems of a comparison share one world, so that a page holds it once.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from halfway.sim.environment.mobility import Motion
from halfway.sim.simulation import Simulation
from halfway.sim.workload.event_numbers import EventNumbers
from halfway.world.graphs.network import Network
from halfway.world.mobility.motion import positions
from halfway.world.workload.named_roles import RolePeriods

Columns = dict[str, npt.NDArray[np.float64] | npt.NDArray[np.int32]]

MOST_EVENTS = 500  # publications on a map
_MOST_PLACES = 150_000  # positions of moving nodes: nodes times frames
_MOST_FRAMES = 601


class ReplayWorld(NamedTuple):
    """The world of a replay, which all systems share; frames are spread evenly over the run."""

    network: Network  # at time 0
    seconds: float
    frames: npt.NDArray[np.float32] | None  # [frames, n, 2] positions; None: all nodes are static
    reach: float | None  # of moving nodes
    publications: Columns  # t, row, topic, event; the first MOST_EVENTS
    subscriptions: Columns  # row, topic
    events_left_out: int  # publications after the first MOST_EVENTS
    names: tuple[str, ...] | None = None  # [n] the user's names; None: the rows
    periods: RolePeriods = RolePeriods({}, 1)

    def expected(self, changes: Columns) -> list[npt.NDArray[np.int32]]:
        """Return the receivers that a run expects for each publication in the world of a replay.

        A publication whose publisher was down has no receiver. changes: the table of a replay.
        """
        expected = []
        up, k = np.ones(self.network.n, bool), 0
        of, rows = self.subscriptions["topic"], self.subscriptions["row"]
        published = self.publications
        for t, publisher, topic in zip(
            published["t"], published["row"], published["topic"], strict=True
        ):
            while k < len(changes["t"]) and changes["t"][k] <= t:
                if changes["what"][k] <= 1:
                    up[int(changes["a"][k])] = changes["what"][k] == 1
                k += 1
            subscribers = rows[of == topic].astype(np.int32)
            subscribers = subscribers[self.periods.hold(subscribers, topic, t)]
            subscribers = subscribers[up[subscribers] & (subscribers != publisher)]
            expected.append(subscribers if up[int(publisher)] else subscribers[:0])
        return expected


def world_of(run: Simulation, motion: Motion | None) -> ReplayWorld:
    """Return the world of a replay, from a simulation and the motion that it was built with."""
    demand = run.demand.begun_again()
    first = demand.next_publications(run.seconds, MOST_EVENTS)
    left_out = 0
    while len(times := demand.next_publications(run.seconds, 65_536).t):
        left_out += len(times)
    rows = [np.asarray(subscribers, np.int32) for subscribers in demand.subscribers]
    topic = np.repeat(
        np.arange(demand.topics, dtype=np.int32), [len(subscribers) for subscribers in rows]
    )
    return ReplayWorld(
        network=run.environment.start,
        seconds=run.seconds,
        frames=None if motion is None else _frames(motion, run.seconds),
        reach=None if motion is None else motion.radius,
        publications={"t": first.t, "row": first.row, "topic": first.topic, "event": first.event},
        subscriptions={"row": np.concatenate([np.zeros(0, np.int32), *rows]), "topic": topic},
        events_left_out=left_out,
        names=_names(run),
        periods=RolePeriods(demand.periods, demand.topics),
    )


def numbers_of(run: Simulation) -> EventNumbers:
    """Number all events of a simulation, as the world of its replay numbers the publications."""
    demand, numbers = run.demand.begun_again(), EventNumbers(run.environment.n)
    while len((some := demand.next_publications(run.seconds, 65_536)).t):
        numbers.enter(some.row, some.event)
    return numbers


def _names(run: Simulation) -> tuple[str, ...] | None:
    """Return the user's names of the nodes in a replay's world, or None if they are the rows."""
    names = tuple(run.environment.names())
    return None if names == tuple(map(str, range(len(names)))) else names


def _frames(motion: Motion, seconds: float) -> npt.NDArray[np.float32]:
    """Return [frames, n, 2]: positions in a replay's world at even times, from 0 to the end."""
    by_size = max(2, _MOST_PLACES // motion.n)
    count = int(min(by_size, _MOST_FRAMES, max(2, np.ceil(seconds) + 1)))
    times = np.linspace(0.0, seconds, count).tolist()
    return np.array([positions(motion.legs(t, t), t) for t in times], np.float32)
