"""Random histories of groups on the walks, and the lists that their members must have.

Members with both roles join and leave at random times on a static connected network. The oracle
knows the stays only: after quiescence, MERGE gives each member the list of all others,
and a path to each of them that has no rings and ends there. With churn, nodes crash for a while or
for good, and links are cut for a while: then the others are those of its component that are up.
With mixed roles, each member publishes, subscribes, or does both. Then each member that publishes
has a path to each other one that subscribes, and a member with both roles lists the same ones.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from halfway.protocols.walks.messages import LISTED, MERGE, PUBLISHES, SUBSCRIBES, VIEW
from halfway.protocols.walks.tables.entries import OPEN, PASSED
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.faults import Crash, Fault, LinkCut
from halfway.world.graphs.network import Network
from halfway.world.workload.groups.group_workload import Groups, Stay
from tests.networks import from_links
from tests.protocols.histories import network_of
from tests.protocols.promises import CHANGES_S, PROMISES, REFRESH_S, STATIC
from tests.protocols.worlds import component

WALKS = PROMISES["directional-walk"]
QUIET_S = CHANGES_S + WALKS.quiet_s
ROLES = ((True, False), (False, True), (True, True))  # publishes, subscribes
_OF_ROLES = 1  # a random stream beside that of the history


class Lists(NamedTuple):
    """What the members of a history list at its end."""

    run: Simulation
    members: dict[int, Stay]  # row -> its stay, of the members at the end
    listed: dict[int, set[int]]  # row -> the rows that it lists
    network: Network  # without the nodes that died

    @property
    def completeness(self) -> float:
        """The share of the other members that a member lists; 1 for a member that is alone."""
        pairs = len(self.members) * (len(self.members) - 1)
        return sum(len(self.listed[row]) for row in self.members) / pairs if pairs else 1.0

    def known(self, row: int) -> set[int]:
        """The other members of the component of a row that it must have a path to."""
        near = component(self.network, row) - {row}
        publishes = self.members[row].publishes
        return {
            one for one in near & set(self.members) if publishes and self.members[one].subscribes
        }

    def due(self, row: int) -> set[int]:
        """The other members that a row must list: with one role, it lists no member."""
        return self.known(row) if self.members[row].subscribes else set()


def lists_of(
    seed: int, at_meeting: int = MERGE, *, churn: bool = False, mixed: bool = False
) -> Lists:
    """Run a history of a group. With STOP and GO_ON, members only join, and walks are
    not renewed. mixed: members have one role or both."""
    draw, of_roles = np.random.default_rng(seed), np.random.default_rng((seed, _OF_ROLES))
    network, stays = network_of(draw, str(draw.choice(STATIC))), []
    for row in draw.permutation(network.n)[: int(draw.integers(2, min(network.n, 7)))].tolist():
        begin, end = sorted(draw.uniform(0.0, CHANGES_S, 2).tolist())
        leaves = at_meeting == MERGE and int(draw.integers(3)) == 0
        roles = ROLES[int(of_roles.integers(3))] if mixed else ROLES[2]
        stays.append(Stay(row, 0, begin, end if leaves else np.inf, *roles))
    faults = churn_of(draw, network, stays) if churn else []
    dead = {one.node for one in faults if isinstance(one, Crash) and one.for_ is None}
    options = {**WALKS.options} | {"at_meeting": at_meeting, "retries": 0}
    options |= {} if at_meeting == MERGE else {"refresh_s": 0.0}
    run = Simulation(
        ("directional-walk", "random-walk")[seed % 2], network, seed=seed, seconds=QUIET_S,
        workload=Groups(stays, 0.0, 3600.0), options=options, radio=IdealRadio(delay_s=0.001),
        stretch=False, inspection=Inspection(received_records=0), faults=faults,
    )  # fmt: skip
    run.run()
    members = {
        stay.row: stay for stay in stays if stay.until_s == np.inf and stay.row not in dead
    }  # fmt: skip
    return Lists(run, members, _listed(run, at_meeting), _without(network, dead))


def churn_of(draw: np.random.Generator, network: Network, stays: Sequence[Stay]) -> list[Fault]:
    """Crashes for a while, which keep a member's memory, cut links, and up to two deaths.

    A command to a node that is down comes later. So a member that leaves is up when it joins and
    when it leaves.
    """
    found: list[Fault] = []
    rows = draw.permutation(network.n).tolist()
    rows_of_members = {stay.row for stay in stays}
    moments = {stay.row: stay[2:4] for stay in stays if stay.until_s < np.inf}
    for row in rows[2 : 2 + int(draw.integers(4))]:
        at, length = float(draw.uniform(1.0, CHANGES_S - 5.0)), float(draw.uniform(0.2, 5.0))
        if any(at <= moment <= at + length for moment in moments.get(row, ())):
            continue
        memory: Literal["kept", "lost"] = "kept" if row in rows_of_members else "lost"
        found.append(Crash(node=row, at=at, for_=length, memory=memory))
    for _ in range(int(draw.integers(3))):
        a = int(draw.integers(network.n))
        b = int(draw.choice(network.neighbours(a)))
        at, length = float(draw.uniform(1.0, CHANGES_S - 5.0)), float(draw.uniform(0.2, 5.0))
        found.append(LinkCut(a=a, b=b, at=at, for_=length))
    return found + [
        Crash(node=row, at=float(draw.uniform(1.0, CHANGES_S)))
        for row in rows[: int(draw.integers(3))]
    ]


def _without(network: Network, dead: set[int]) -> Network:
    links = [
        (a, int(b)) for a in range(network.n) for b in network.neighbours(a)
        if a < b and not dead & {a, int(b)}
    ]  # fmt: skip
    return from_links(network.n, links)


def _listed(run: Simulation, at_meeting: int) -> dict[int, set[int]]:
    """Row -> the members that it lists at the end, from its reports. In MERGE they expire."""
    found: dict[int, set[int]] = {row: set() for row in range(run.environment.n)}
    oldest = run.seconds - 2.0 * REFRESH_S if at_meeting == MERGE else 0.0
    for report, row in zip(*run.reports(), strict=True):
        if report["kind"] != VIEW:
            continue
        member = int(report["publisher"])
        found[row].discard(member)
        if report["args"][LISTED] == 1 and report["at"] >= oldest:
            found[row].add(member)
    return found


def wrong_paths(lists: Lists) -> list[str]:
    """The paths of a history that have rings or end elsewhere: from members to listed members, and
    in MERGE to all members to which they must have a path."""
    found, merges = [], lists.run.instance.rules.at_meeting == MERGE
    for row in lists.members:
        for member in sorted(lists.listed[row] | (lists.known(row) if merges else set())):
            ways = [
                way for side in (PUBLISHES, SUBSCRIBES) if (way := _way(lists, row, member, side))
            ]
            found += [f"from {row} to {member}: {way}" for way in ways if way[-1] != member]
            found += [] if ways else [f"from {row} to {member}: no path"]
    return found


def _way(lists: Lists, row: int, member: int, side: int) -> list[int]:
    """The nodes on the path from a row to a side of a member, up to it, a ring, or the end of the
    path; [] without a path. In STOP and GO_ON, a node that has the member's trail follows it."""
    tables, way, merges = (
        lists.run.state.tables,
        [row],
        lists.run.instance.rules.at_meeting == MERGE,
    )
    if merges and side == PUBLISHES:
        return []
    while way[-1] != member:
        trails = [] if merges else [(tables.trails, PASSED)]
        steps = [
            int(one.back)
            for table, status in (*trails, (tables.paths, OPEN))
            for one in table[way[-1], 0]
            if one.status == status and one.member == member and one.side == side
        ]
        if not steps or steps[0] in way:
            return [*way, -1] if len(way) > 1 or steps else []
        way.append(steps[0])
    return way


def failure(seed: int, *, churn: bool = False, mixed: bool = False) -> str:
    """What the lists of a history with MERGE have wrong; "" if nothing."""
    lists = lists_of(seed, churn=churn, mixed=mixed)
    lacks = {row: lists.due(row) ^ lists.listed[row] for row in lists.members}
    wrong = [f"{row}: {sorted(some)}" for row, some in lacks.items() if some]
    return f"seed {seed}: {wrong} {paths}" if (paths := wrong_paths(lists)) or wrong else ""
