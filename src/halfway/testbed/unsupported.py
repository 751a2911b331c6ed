"""The parts of a scenario that a test bed cannot run, each refused with its reason."""

from halfway.live.air.air import MOST_NODES
from halfway.live.air.frame_queue import Delay
from halfway.live.limits import DEFAULT, Limits
from halfway.live.systems.live_systems import check_spreads_events, check_system, roles_of
from halfway.problem import Problem
from halfway.scenario.schema import GroupWorkload, Scenario
from halfway.sim.radio.declarations import DistanceRadio, IdealRadio
from halfway.world.attacks import Attack
from halfway.world.faults import Pause
from halfway.world.graphs.network import Network

_LONGEST_S = 3600.0  # a live second takes a second
_SHORTEST_PERIOD_S = 0.05


def check_suitable(scenario: Scenario, system: str) -> None:
    """Raise Problem for a scenario or a system that the real nodes of a test bed cannot run."""
    check_system(system)
    check_spreads_events(system, for_what="a test bed")
    if roles_of(system):
        what = f"system = {system}: a test bed gives its nodes no roles"
        raise Problem(what, remedy="choose a system whose nodes all have the same role")
    radio, remedy = scenario.radio, 'use kind = "ideal" or "distance"'
    if not isinstance(radio, IdealRadio | DistanceRadio):
        kind = radio.__struct_config__.tag
        raise Problem(f"radio.kind = {kind}: the air has no such radio", remedy=remedy)
    if radio.ratios is not None:
        what = "radio.ratios: expected one share for all links of a test bed"
        raise Problem(what, remedy="give radio.success instead")
    if scenario.clock is not None:
        what = "clock: all nodes of a test bed have the clock of this machine"
        raise Problem(what, remedy="remove this table from the scenario")
    for index, fault in enumerate(scenario.faults):
        if isinstance(fault, Pause | Attack):
            kind = fault.__struct_config__.tag
            what = f"faults[{index}]: nodes of a test bed do not support {kind}"
            raise Problem(what, remedy="remove this table from the scenario")
    if isinstance(scenario.workload, GroupWorkload) and scenario.workload.requests is not None:
        what = "workload.requests: applications in a test bed do not answer requests"
        raise Problem(what, remedy="remove this table from the scenario")
    if scenario.power.battery_j is not None:
        what = "power.battery_j: nodes of a test bed have no batteries"
        raise Problem(what, remedy="remove this field from the scenario")
    if scenario.seconds > _LONGEST_S:
        what = f"seconds = {scenario.seconds:g}: expected at most {_LONGEST_S:g}"
        raise Problem(what, remedy="lower `seconds`, because a live run takes this time")
    if scenario.hello == "sent" and scenario.hello_period_s < _SHORTEST_PERIOD_S:
        what = f"hello_period_s = {scenario.hello_period_s:g}"
        raise Problem(f"{what}: expected at least {_SHORTEST_PERIOD_S:g} s in a test bed")


def limits_for(n: int, most_neighbours: int) -> Limits:
    """Return the limits of real nodes. Raises Problem where the air cannot run so many of them.

    most_neighbours: of any node at any time, as far as it is known before the run.
    """
    if n > MOST_NODES:
        what = f"network: {n} nodes: expected at most {MOST_NODES} in a test bed"
        raise Problem(what, remedy="choose a smaller network")
    if most_neighbours > DEFAULT.heard:
        what = f"network: a node has {most_neighbours} neighbours: expected {DEFAULT.heard} at most"
        raise Problem(what, remedy="choose a smaller degree")
    return DEFAULT._replace(neighbours=max(DEFAULT.neighbours, most_neighbours))


def delay_of(scenario: Scenario, network: Network | None, seed: int) -> Delay:
    """Return the delay of the scenario's radio that real nodes on the air can have: the same on all
    links, or one a link.
    """
    radio = scenario.radio
    if isinstance(radio, DistanceRadio):
        if network is None:
            what = 'radio.kind = "distance": expected a static network in a test bed'
            raise Problem(what, remedy='use radio kind "ideal"')
        made = radio.made(network, None, seed)
        seconds = getattr(made, "radio", made).delay.tolist()
        start = network.start.tolist()
        return Delay(
            radio.delay_s,
            pairs_s={
                (row, int(network.who[place])): seconds[place]
                for row in range(network.n)
                for place in range(start[row], start[row + 1])
            },
            seed=seed,
        )
    assert isinstance(radio, IdealRadio)
    return Delay(radio.delay_s, seed=seed)
