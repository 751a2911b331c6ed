"""Runs of random histories of GeoRendezvous, and what all of them draw and judge.

The draws here have random streams of their own: a history of a known seed keeps all else that it
had. A third of the histories has no acknowledgements. In the others nodes acknowledge, and in half
of these, receptions fail until a time of calm.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from halfway.papers.georendezvous.message_run import delivered, post
from halfway.protocols.georendezvous.messages import ADVERTISE, UNADVERTISE
from halfway.protocols.parts.application import SUBSCRIBE
from halfway.sim.simulation import Simulation
from tests.protocols.histories import link_of

TOPICS = 2
CLIENTS = 4  # rows 0 and 1 publish, 2 and 3 subscribe
SUBSCRIBERS = {2, 3}
_BEGIN_S, _PUBLISHING = 1.0, 0x9B

Periods = list[tuple[float, float]]  # begin and end, in seconds


class Link(NamedTuple):
    """The hops of a history: retransmissions, and the share of receptions that succeed."""

    retries: int = 0
    success: float = 1.0


@dataclass(frozen=True)
class JudgedRun:
    """A run ready to go, and what must follow."""

    cells: Simulation
    due: set[tuple[int, int]]  # (event, row) that must be delivered
    published: int  # events
    calm_s: float  # from then on no reception fails

    def wrong(self) -> list[str]:
        """Run it; what was missed, delivered twice or delivered unasked, and what nodes sent that
        the check at the door refuses."""
        self.cells.advance(self.calm_s)
        if hasattr(self.cells.radio, "success"):
            self.cells.radio.success[:] = 1.0
        self.cells.run()
        found = delivered(self.cells)
        wrong = [f"missed {pair}" for pair in sorted(self.due - set(found))]
        wrong += [f"twice {pair}" for pair in sorted({p for p in found if found.count(p) > 1})]
        wrong += [f"unasked {pair}" for pair in found if pair[1] not in SUBSCRIBERS]
        refused = int(self.cells.engine.checks.refused.sum())
        return [*wrong, f"refused {refused}"] if refused else wrong


def hops_of(seed: int, plain: bool) -> Link:
    """The hops of the history of a seed. plain: the defaults."""
    retries, success = ({}, 1.0) if plain else link_of(seed, "georendezvous")
    return Link(retries.get("retries", 0), success)


def publishing_of(seed: int, first_s: float, last_s: float, plain: bool) -> list[Periods]:
    """When the publisher of each topic advertises: half of them always, a quarter begins late, and
    a quarter withdraws and begins again.

    first_s, last_s: the limits of these changes. plain: all of them always.
    """
    draw, found = np.random.default_rng([seed, _PUBLISHING]), list[Periods]()
    for _ in range(TOPICS):
        sort, (one, other) = int(draw.integers(4)), sorted(draw.uniform(first_s, last_s, 2))
        if plain or sort < 2:
            found.append([(_BEGIN_S, np.inf)])
        elif sort == 2:
            found.append([(float(other), np.inf)])
        else:
            found.append([(_BEGIN_S, float(one)), (float(other), np.inf)])
    return found


def begin_clients(cells: Simulation, publishing: list[Periods]) -> None:
    """Let row k publish on topic k in its periods, and other clients subscribe to all topics."""
    for topic, periods in enumerate(publishing):
        for row in SUBSCRIBERS:
            post(cells, _BEGIN_S, row, SUBSCRIBE, topic)
        for begin, end in periods:
            post(cells, begin, topic, ADVERTISE, topic)
            if end < np.inf:
                post(cells, end, topic, UNADVERTISE, topic)


def advertises(periods: Periods, at: float, settled_s: float) -> bool:
    """Whether a publisher advertises at a time, and has done so for some seconds."""
    return any(begin <= at - settled_s and at < end for begin, end in periods)
