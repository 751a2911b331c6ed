"""The measurement of lists of members for paper 1, §2, on one random network."""

from collections.abc import Iterator, Sequence

import numpy as np

from halfway.papers.directional_walks.claims_lists import ONE
from halfway.pipeline.plan.run import Observations, Run
from halfway.protocols.walks.messages import GO_ON, MERGE, STOP
from halfway.sim.radio.declarations import IdealRadio
from halfway.sim.simulation import Simulation
from halfway.world.graphs.mean_degree import radius_of_degree
from halfway.world.graphs.network import Network
from halfway.world.graphs.shortest_paths import distances
from halfway.world.graphs.unit_disk import kept_draw
from halfway.world.workload.groups.group_workload import Groups, Stay, drawn_stays

INTERPRETATIONS = {"merge": MERGE, "stop": STOP, "go-on": GO_ON}
JOIN_S, START_S, END_S = (0.0, 10.0), 90.0, 100.0
_ALWAYS_S = 3600.0  # a report of a member holds to the end of the run


def lists(run: Run) -> Observations:
    """[drw §2] Measure the lists that the members of one group have in the end, on one network.

    listed: the share of the other members that a member lists, from 90 s to 100 s; with one role
    each, the share of those to which its node has a path in the end. stretch: the hops of the path
    to another member, divided by those of a shortest path, a mean over the pairs with a path in the
    end. messages: the transmissions for each member in 100 s.
    """
    n, members = int(run["n"]), int(run["members"])
    one_role = run.parameters.get("roles") == ONE
    with run.timed("network"):
        network = kept_draw(n, radius_of_degree(n, run["degree"]), run.network_seed).network
    stays = _stays(n, members, one_role, run.workload_seed)
    simulation = Simulation(
        "directional-walk",
        network,
        workload=Groups(stays, 0.0, _ALWAYS_S, START_S),
        seconds=END_S,
        seed=run.random_seed,
        radio=IdealRadio(delay_s=0.002),
        stretch=False,
        options=_options(run),
    )
    with run.timed("run"):
        outcome = simulation.run()
    if outcome.groups is None:
        raise TypeError("the run has no groups")
    stretches = list(_stretches(simulation, network, [stay.row for stay in stays]))
    listed = outcome.groups.completeness
    if one_role:
        listed = len(stretches) / (members * (members - 1))
    observed = {
        "listed": np.array([listed]),
        "messages": np.array([sum(outcome.sent.values()) / members]),
    }
    return observed | ({"stretch": np.array([np.mean(stretches)])} if stretches else {})


def _options(run: Run) -> dict[str, float | int | bool]:
    """Return the options of the walks in a measurement of lists."""
    at_meeting = INTERPRETATIONS[str(run["reading"])]
    return {"at_meeting": at_meeting, "refresh_s": run["refresh_s"], "retries": 0}


def _stays(n: int, members: int, one_role: bool, seed: int) -> list[Stay]:
    """Return the stays of the members of a group that lists its members; one_role: every other one
    only publishes, and the others only subscribe.
    """
    stays = drawn_stays(
        n, 1, members, join_s=JOIN_S, stay_s=None, publishes=True, subscribes=True, seed=seed
    )
    if not one_role:
        return stays
    sides = (
        stay._replace(publishes=k % 2 == 0, subscribes=k % 2 == 1) for k, stay in enumerate(stays)
    )
    return list(sides)


def _stretches(simulation: Simulation, network: Network, rows: Sequence[int]) -> Iterator[float]:
    """Yield the stretch of each path to a listed member of a group: its hops divided by those of a
    shortest path.
    """
    find, now = simulation.instance.path_to, np.full(network.n, simulation.at)
    if find is None:
        raise TypeError("the system keeps no paths to members")
    for row in rows:
        shortest = distances(network, row)
        for member in rows:
            if row != member and (way := find(row, 0, member, now)):
                yield (len(way) - 1) / int(shortest[member])
