"""Random histories with churn for failure detectors, and calm ones: many small networks in a run.

    python -m tests.protocols.failure_detectors.histories swim 0 100
    python -m tests.protocols.failure_detectors.histories heartbeat 0 100 phi_threshold=8
    python -m tests.protocols.failure_detectors.histories --calm heartbeat 1010 phi_threshold=8

The first two commands run a hundred histories with each of these seeds, and print each one that
fails. Where a monitor is wrong about a living member at the end, they also print how long this
mistake has lasted, and after how many seconds the monitor trusts the member again. The third one
runs networks without a fault, for so many seconds. Options may follow. No link
joins two of the networks of a run. So each of them has a history of its own, and none costs the
start of a run.
"""

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from halfway.protocols.failure_detectors.reports import SUSPECTED, TRUSTED
from halfway.sim.environment.clock_errors import ClockErrors
from halfway.sim.run_settings import NodeSettings
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, LinkCut
from halfway.world.graphs.network import Network
from tests.networks import from_links
from tests.protocols.failure_detectors.runs import run, suspicions, views
from tests.protocols.worlds import component

EACH = 100  # histories of a run
CHURN_S = (15.0, 40.0)  # members know each other before; the last node is back before 50 s
DEATHS_S, END_S = (52.0, 55.0), 130.0
AGAIN_S = 60.0  # in which a monitor trusts a living member again after the end
NOT_SUSPECTED, NOT_TRUSTED = "does not suspect", "does not trust"
_Links = list[tuple[int, int]]


class History(NamedTuple):
    """One small network of a run: its rows, its links, and what happens there."""

    rows: range
    links: _Links
    faults: Sequence[Fault]
    dead: frozenset[int]  # rows that crash for good
    members: frozenset[int]  # the other rows are relays
    forgot: Mapping[int, float]  # rows that lost their memory before -> when they came back


def shape_of(draw: np.random.Generator, n: int) -> _Links:
    """The links of a star, a chain, a ring, or a clique with a tail, of n nodes."""
    shape = int(draw.integers(4))
    if shape == 0:
        return [(0, k) for k in range(1, n)]
    chain = [(k - 1, k) for k in range(1, n)]
    if shape == 1 or n < 4:
        return chain
    return [*chain, (0, n - 1)] if shape == 2 else [*chain, (0, 2), (0, n - 2)][: n + 1]


def history_of(draw: np.random.Generator, first: int, *, relays: bool = False) -> History:
    """A history on the rows from `first` on: nodes and links go and come back, then nodes die.

    relays: whether some of the nodes are relays; the network is then larger.
    """
    n = int(draw.integers(5, 10) if relays else draw.integers(3, 7))
    links = sorted({(a + first, b + first) for a, b in shape_of(draw, n)})
    faults: list[Fault] = []
    forgot: dict[int, float] = {}
    for row in range(first, first + n):
        if draw.random() < 0.4:
            memory: Literal["kept", "lost"] = "lost" if draw.random() < 0.5 else "kept"
            at, length = draw.uniform(*CHURN_S), draw.uniform(0.2, 10.0)
            forgot |= {row: float(at + length)} if memory == "lost" else {}
            faults.append(Crash(node=row, at=float(at), for_=float(length), memory=memory))
    if draw.random() < 0.4:
        a, b = links[int(draw.integers(len(links)))]
        at, length = draw.uniform(*CHURN_S), draw.uniform(0.2, 10.0)
        faults.append(LinkCut(a=a, b=b, at=float(at), for_=float(length)))
    dead = draw.permutation(n)[: int(draw.integers(1, 3))] + first
    faults += [Crash(node=int(row), at=float(draw.uniform(*DEATHS_S))) for row in dead]
    rows = range(first, first + n)
    count = int(draw.integers(2, n)) if relays else n
    members = frozenset((draw.permutation(n)[:count] + first).tolist()) if relays else set(rows)
    return History(rows, links, faults, frozenset(dead.tolist()), frozenset(members), forgot)


def said(simulation: Simulation, histories: Sequence[History]) -> dict[tuple[int, int], bool]:
    """(monitor, member) -> whether the monitor trusts it in the end, as far as it remembers."""
    back = {row: at for one in histories for row, at in one.forgot.items()}
    reports, rows = simulation.reports()
    found = {}
    for report, row in zip(reports, rows.tolist(), strict=True):
        if report["kind"] in (SUSPECTED, TRUSTED) and report["at"] >= back.get(row, 0.0):
            found[row, int(report["target"])] = bool(report["kind"] == TRUSTED)
    return found


class Wrong(NamedTuple):
    """A monitor that is wrong about a member at the end of a history."""

    monitor: int
    member: int
    what: str  # NOT_SUSPECTED or NOT_TRUSTED
    history: History


def wrong_pairs(
    history: History, network: Network, found: dict[tuple[int, int], bool]
) -> Iterator[Wrong]:
    """What the monitors of a history say in the end that is wrong."""
    up = sorted(history.members - history.dead)
    alive = from_links(
        network.n, [link for link in history.links if not history.dead & set(link)]
    )  # fmt: skip
    for monitor in up:
        near = component(alive, monitor)
        for member in history.dead & history.members:
            # A monitor of its component: one that stays connected with a neighbour of the member.
            if not near & {int(one) for one in network.neighbours(member)}:
                continue
            # A monitor that lost its memory may never have heard of the member.
            if found.get((monitor, member), monitor not in history.forgot):
                yield Wrong(monitor, member, NOT_SUSPECTED, history)
        for member in near & history.members - {monitor}:
            if not found.get((monitor, member), False):
                yield Wrong(monitor, member, NOT_TRUSTED, history)


def simulated(
    system: str, seed: int, end_s: float, *, relays: bool = False, **options: float
) -> tuple[Simulation, Network, list[History]]:
    """The run of the histories of a seed, up to a time in seconds."""
    draw = np.random.default_rng(seed)
    histories: list[History] = []
    for _ in range(EACH):
        first = histories[-1].rows.stop if histories else 0
        histories.append(history_of(draw, first, relays=relays))
    network = from_links(
        histories[-1].rows.stop, [link for one in histories for link in one.links]
    )  # fmt: skip
    faults = [fault for one in histories for fault in one.faults]
    simulation = run(
        system, network, end_s, *faults, seed=seed, options={"members": 8, **options},
        discovery_delay_s=1.0, start_s=CHURN_S[0],
        members=[row for one in histories for row in sorted(one.members)] if relays else None,
    )  # fmt: skip
    return simulation, network, histories


def failures(system: str, seed: int, *, relays: bool = False, **options: float) -> list[str]:
    """The histories of a seed, of which a detector's monitors are wrong in the end."""
    simulation, network, histories = simulated(system, seed, END_S, relays=relays, **options)
    found = said(simulation, histories)
    wrong = [one for some in histories for one in wrong_pairs(some, network, found)]
    again: dict[tuple[int, int], tuple[float, float]] = {}
    if any(one.what == NOT_TRUSTED for one in wrong):
        again = mistakes_at_end(
            simulated(system, seed, END_S + AGAIN_S, relays=relays, **options)[0]
        )
    return [
        f"{system}, seed {seed}: {one.monitor} {one.what} {one.member}"
        + (_lasts(again.get((one.monitor, one.member))) if one.what == NOT_TRUSTED else "")
        + f" of {one.history}"
        for one in wrong
    ]


def mistakes_at_end(longer: Simulation) -> dict[tuple[int, int], tuple[float, float]]:
    """(monitor, member) -> the seconds from the suspicion to END_S, and from END_S until the
    monitor trusts the member again, in a run that goes on after END_S."""
    reports, rows = longer.reports()
    since: dict[tuple[int, int], float] = {}
    found: dict[tuple[int, int], tuple[float, float]] = {}
    for report, row in zip(reports, rows.tolist(), strict=True):
        pair, at = (row, int(report["target"])), float(report["at"])
        if report["kind"] == SUSPECTED and at < END_S:
            since[pair] = at
        elif report["kind"] == TRUSTED and pair in since:
            begin = since.pop(pair)
            found |= {pair: (END_S - begin, at - END_S)} if at >= END_S else {}
    return found


def _lasts(times: tuple[float, float] | None) -> str:
    if times is None:
        return f", nor within {AGAIN_S:g} s"
    return f" for {times[0]:.3f} s, and trusts it {times[1]:.3f} s later,"


def calm_suspicions(
    system: str, seconds: float, networks: int = 100, n: int = 10, **options: float
) -> int:
    """The suspicions of a detector on networks without a fault, of n members each.

    The member-periods are networks × n × seconds, as a period has a second.
    """
    draw = np.random.default_rng(1)
    links = [
        (a + n * k, b + n * k) for k in range(networks) for a, b in shape_of(draw, n)
    ]  # fmt: skip
    simulation = run(
        system, from_links(networks * n, sorted(set(links))), seconds,
        nodes=NodeSettings(clock=ClockErrors(offset_s=100.0, drift_ppm=100.0)),
        options={"members": n, **options},
    )  # fmt: skip
    assert len(views(simulation)) == networks * n * (n - 1)
    return len(suspicions(simulation))


if __name__ == "__main__":
    options = {name: float(text) for name, text in (one.split("=") for one in sys.argv[4:])}
    if sys.argv[1] == "--calm":
        number = calm_suspicions(sys.argv[2], float(sys.argv[3]), **options)
        sys.stdout.write(f"{number} suspicions\n")
    else:
        for seed in range(int(sys.argv[2]), int(sys.argv[3])):
            sys.stdout.writelines(f"{line}\n" for line in failures(sys.argv[1], seed, **options))
