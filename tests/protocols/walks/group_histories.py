"""Random histories of groups on the walks, and the lists that their members must have.

Members with both roles join and leave at random times on a static connected network. The oracle
knows the stays only: after quiescence, the reading MERGE gives each member the list of all others,
and a path to each of them that has no rings and ends there.
"""

from typing import NamedTuple

import numpy as np

from halfway.protocols.walks.messages import LISTED, MERGE, PUBLISHES, SUBSCRIBES, VIEW
from halfway.protocols.walks.state import OPEN, PASSED
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.run_settings import Inspection
from halfway.sim.simulation import Simulation
from halfway.world.workload.groups import Groups, Stay
from tests.protocols.histories import CHANGES_S, PROMISES, REFRESH_S, STATIC, network_of

WALKS = PROMISES["directional-walk"]
QUIET_S = CHANGES_S + WALKS.quiet_s


class Lists(NamedTuple):
    """What the members of a history list at its end."""

    run: Simulation
    members: list[int]  # rows, at the end
    listed: dict[int, set[int]]  # row -> the rows that it lists

    @property
    def completeness(self) -> float:
        """The share of the other members that a member lists; 1 for a member that is alone."""
        pairs = len(self.members) * (len(self.members) - 1)
        return sum(len(self.listed[row]) for row in self.members) / pairs if pairs else 1.0


def lists_of(seed: int, reading: int = MERGE) -> Lists:
    """Run a history of a group. In the readings STOP and GO_ON, members only join, and walks are
    not renewed."""
    draw = np.random.default_rng(seed)
    network, stays = network_of(draw, str(draw.choice(STATIC))), []
    for row in draw.permutation(network.n)[: int(draw.integers(2, min(network.n, 7)))].tolist():
        begin, end = sorted(draw.uniform(0.0, CHANGES_S, 2).tolist())
        leaves = reading == MERGE and int(draw.integers(3)) == 0
        stays.append(Stay(row, 0, begin, end if leaves else np.inf))
    options = {**WALKS.options} | {"reading": reading, "retries": 0}
    options |= {} if reading == MERGE else {"refresh_s": 0.0}
    run = Simulation(
        ("directional-walk", "random-walk")[seed % 2], network, seed=seed, seconds=QUIET_S,
        workload=Groups(stays, 0.0, 3600.0), options=options, radio=IdealRadio(delay_s=0.001),
        stretch=False, inspection=Inspection(journal=0),
    )  # fmt: skip
    run.run()
    return Lists(run, [stay.row for stay in stays if stay.until_s == np.inf], _listed(run, reading))


def _listed(run: Simulation, reading: int) -> dict[int, set[int]]:
    """Row -> the members that it lists at the end, from its reports. In MERGE they expire."""
    found: dict[int, set[int]] = {row: set() for row in range(run.environment.n)}
    oldest = run.seconds - 2.0 * REFRESH_S if reading == MERGE else 0.0
    for report, row in zip(*run.reports(), strict=True):
        if report["kind"] != VIEW:
            continue
        member = int(report["publisher"])
        found[row].discard(member)
        if report["args"][LISTED] == 1 and report["at"] >= oldest:
            found[row].add(member)
    return found


def wrong_paths(lists: Lists) -> list[str]:
    """The paths of a history from members to listed members that have rings or end elsewhere."""
    found = []
    for row in lists.members:
        for member in sorted(lists.listed[row] - {row}):
            ways = [
                way for side in (PUBLISHES, SUBSCRIBES) if (way := _way(lists, row, member, side))
            ]
            found += [f"from {row} to {member}: {way}" for way in ways if way[-1] != member]
            found += [] if ways else [f"from {row} to {member}: no path"]
    return found


def _way(lists: Lists, row: int, member: int, side: int) -> list[int]:
    """The nodes on the path from a row to a side of a member, up to it, a ring, or the end of the
    path; [] without a path. In STOP and GO_ON, a node that has the member's trail follows it."""
    trails, way, merges = lists.run.state.trails, [row], lists.run.instance.rules.reading == MERGE
    if merges and side == PUBLISHES:
        return []
    while way[-1] != member:
        tables = (
            [(trails.paths, OPEN)] if merges else [(trails.trails, PASSED), (trails.paths, OPEN)]
        )
        steps = [
            int(one.back)
            for table, status in tables
            for one in table[way[-1], 0]
            if one.status == status and one.member == member and one.side == side
        ]
        if not steps or steps[0] in way:
            return [*way, -1] if len(way) > 1 or steps else []
        way.append(steps[0])
    return way


def failure(seed: int) -> str:
    """What the lists of a history in the reading MERGE have wrong; "" if nothing."""
    lists = lists_of(seed)
    members = set(lists.members)
    lacks = {row: members - {row} ^ lists.listed[row] for row in lists.members}
    wrong = [f"{row}: {sorted(some)}" for row, some in lacks.items() if some]
    return f"seed {seed}: {wrong} {paths}" if (paths := wrong_paths(lists)) or wrong else ""
