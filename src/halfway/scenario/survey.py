"""The survey of a scenario: facts about its network, roles, events and faults, without a run."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from halfway.scenario.build import checked_environment, link_columns, network_of, prepared
from halfway.scenario.remarks import EVENTS_AT_ONCE
from halfway.scenario.schema import FromFile, Scenario
from halfway.world.graphs.components import components
from halfway.world.graphs.cut_points import cut_points
from halfway.world.graphs.degrees import degree_statistics
from halfway.world.graphs.network import Network
from halfway.world.importers.network_file import read_network
from halfway.world.mobility.moving_grid import network_at, present
from halfway.world.workload.demand import Demand

_MOST_COUNTED = 1_000_000  # events; the count of more events takes longer than a run
_HALF = 0.5


class Snapshot(msgspec.Struct, frozen=True):
    """The surveyed network of moving nodes at one time of the run."""

    at_s: float
    nodes: int  # nodes that exist at this time
    links: int
    largest_component: int


class Topology(msgspec.Struct, frozen=True):
    """The surveyed network of a scenario, for moving nodes with their links at time 0. Nodes have
    the names of the user.
    """

    name: str
    moving: bool
    positions: bool
    nodes: int
    links: int
    components: int
    largest_component: int
    isolated: int
    least_degree: int
    mean_degree: float
    most_degree: int
    cut_nodes: list[str]
    bridges: list[tuple[str, str]]
    left_out: dict[str, int]  # items that the reader of the file dropped: kind -> count
    left_out_nodes: list[str]  # the nodes of the file outside the largest component
    over_time: list[Snapshot]  # of moving nodes


class SurveyedRoles(msgspec.Struct, frozen=True):
    """The surveyed roles and events of a scenario, drawn for one seed. The seed draws other roles
    in each replicate.
    """

    topics: int
    publishers: list[str]
    subscribers: list[str]
    separated_pairs: int  # publisher and subscriber of one topic without a path, at time 0
    events: int  # number of events in the scenario; -1: not stated
    events_that_fit: int
    counted_all: bool  # whether all events were counted


class Survey(msgspec.Struct, frozen=True):
    """The survey of a scenario under one seed."""

    seed: str  # repeats the first run with `halfway simulate --seed`; as text, as it has 63 bits
    topology: Topology
    roles: SurveyedRoles
    faults: int
    warnings: list[str]


def survey(scenario: Scenario) -> Survey:
    """Survey a scenario: build its network, roles and faults as a run with its seed would.

    Raises Problem for everything that a run would refuse before its start.
    """
    ready = prepared(scenario)
    environment, _ = checked_environment(scenario, ready)
    names, component = environment.names(), components(environment.start).tolist()
    left_out = {} if ready.network is None else ready.network.left_out
    absent = _left_out_nodes(scenario, names)
    topology = _topology(
        environment.start, names, component, list(_snapshots(scenario)), left_out, absent
    )
    asked = getattr(scenario.workload, "events", -1)
    roles = _roles(ready.demand, names, component, asked, scenario.seconds)
    warnings = [*_on_topology(topology), *_on_roles(roles, moving=topology.moving)]
    return Survey(str(scenario.seed), topology, roles, len(scenario.faults), warnings)


def _topology(
    start: Network,
    names: list[str],
    component: Sequence[int],
    over_time: list[Snapshot],
    left_out: Mapping[str, int],
    absent: list[str],
) -> Topology:
    cut, degree, sizes = cut_points(start), degree_statistics(start), Counter(component)
    return Topology(
        name=start.name, moving=bool(over_time),
        positions=bool(over_time) or start.position is not None, nodes=start.n, links=start.links,
        components=len(sizes), largest_component=max(sizes.values()), isolated=degree.isolated,
        least_degree=degree.least, mean_degree=degree.mean, most_degree=degree.most,
        cut_nodes=[names[row] for row in cut.nodes.tolist()],
        bridges=[(names[a], names[b]) for a, b in cut.bridges.tolist()], left_out=dict(left_out),
        left_out_nodes=absent, over_time=over_time,
    )  # fmt: skip


def _snapshots(scenario: Scenario) -> Iterator[Snapshot]:
    """Yield snapshots of the surveyed network that moves: at the start and the end of the run, and
    at three times between.
    """
    _, motion = network_of(scenario)  # a movement can be played only once
    if motion is None:
        return
    for quarter in range(5):
        at_s = quarter * scenario.seconds / 4.0
        network = network_at(motion.legs(at_s, at_s), motion.radius, at_s, motion.presence)
        here = [True] * network.n
        if motion.presence is not None:
            here = present(motion.presence, at_s).tolist()
        parts = components(network).tolist()
        sizes = Counter(part for part, exists in zip(parts, here, strict=True) if exists)
        largest = max(sizes.values(), default=0)
        yield Snapshot(at_s, sum(here), network.links, largest)


def _left_out_nodes(scenario: Scenario, names: list[str]) -> list[str]:
    """Return the nodes of the surveyed network outside the largest component, which a run leaves
    out.
    """
    file = scenario.network
    if not isinstance(file, FromFile) or not file.largest:
        return []
    whole = read_network(file.path, link_columns(file), partial_positions=True)
    return sorted({whole.label(row) for row in range(whole.n)} - set(names))


def _roles(
    demand: Demand, names: list[str], component: Sequence[int], asked: int, seconds: float
) -> SurveyedRoles:
    roles = [
        [rows.tolist() for rows in roles_by_topic]
        for roles_by_topic in (demand.publishers, demand.subscribers)
    ]
    separated = 0
    for rows_of_topic, other in zip(*roles, strict=True):
        here, there = (Counter(component[row] for row in rows) for rows in (rows_of_topic, other))
        separated += len(rows_of_topic) * len(other) - sum(
            count * there[at] for at, count in here.items()
        )
    publishing, subscribing = (
        [names[row] for row in sorted({row for rows in roles_by_topic for row in rows})]
        for roles_by_topic in roles
    )
    fit, counted_all = _events_that_fit(demand.begun_again(), seconds)
    return SurveyedRoles(demand.topics, publishing, subscribing, separated, asked, fit, counted_all)


def _events_that_fit(demand: Demand, seconds: float) -> tuple[int, bool]:
    count = 0
    while count < _MOST_COUNTED:
        some = len(demand.next_publications(seconds, EVENTS_AT_ONCE).t)
        count += some
        if some < EVENTS_AT_ONCE:
            return count, True
    return count, False


def _on_topology(topology: Topology) -> Iterator[str]:
    """Yield the survey's warnings about the network."""
    if topology.over_time:
        share = max(
            instant.largest_component / max(instant.nodes, 1) for instant in topology.over_time
        )
        if share <= _HALF:
            yield (
                "the moving nodes are never connected: at most "
                f"{share:.0%} of the nodes that exist are in one component"
            )
    elif topology.components > 1:
        yield (
            f"the network has {topology.components:,} components, and the largest has "
            f"{topology.largest_component:,} of {topology.nodes:,} nodes"
        )


def _on_roles(roles: SurveyedRoles, *, moving: bool) -> Iterator[str]:
    """Yield the survey's warnings about roles."""
    if roles.separated_pairs and not moving:
        yield f"{roles.separated_pairs:,} pairs of a publisher and a subscriber have no path"
