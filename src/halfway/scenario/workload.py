"""The workload of a scenario: roles by name or drawn, popularity, payloads, recorded events."""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from halfway.problem import Problem
from halfway.scenario.group_members import groups_of, monitoring_of
from halfway.scenario.schema import (
    MOST_TOPICS,
    AnyWorkload,
    BrokerMember,
    FailureDetection,
    GroupWorkload,
    Member,
    RecordedWorkload,
    RolesByName,
    Workload,
)
from halfway.world.workload.demand import Drawn, Listed, drawn_order
from halfway.world.workload.event_files import RecordedEvents, read_events, read_roles
from halfway.world.workload.groups.group_workload import Groups
from halfway.world.workload.groups.monitoring import Monitoring
from halfway.world.workload.named_roles import (
    ALWAYS,
    BrokerPeriod,
    GivenRoles,
    NamedRole,
    Names,
    Period,
    brokers_of,
    publishing_rows,
    subscribing_rows,
    topic_names,
)

AnyDemand = Drawn | Listed | Monitoring | Groups
_STREAM = 2**30  # random stream of the nodes for names in files; topics have lower numbers


class NamesAndSeed(NamedTuple):
    """The names of a scenario's nodes, and the seed of its workload."""

    names: Sequence[str]  # [n]
    seed: int


def demand_of(workload: AnyWorkload, known: NamesAndSeed) -> AnyDemand:
    """Build the demand of a scenario's workload. Raises Problem naming the field."""
    if isinstance(workload, RecordedWorkload):
        return _recorded(workload, known)
    if isinstance(workload, FailureDetection):
        return monitoring_of(workload, known.names, known.seed)
    if isinstance(workload, GroupWorkload):
        return groups_of(workload, known.names, known.seed)
    return _drawn_demand(workload, known)


def files_of(workload: AnyWorkload) -> list[str]:
    """Return the files that a scenario's workload, as it was read, refers to."""
    if isinstance(workload, FailureDetection | GroupWorkload):
        return []
    sources: list[object] = [workload.subscribers]
    files: list[str] = []
    if isinstance(workload, RecordedWorkload):
        files += [workload.path] if isinstance(workload.path, str) else workload.path
    else:
        sources.append(workload.publishers)
    return files + [source for source in sources if isinstance(source, str)]


def with_other_files(workload: AnyWorkload, other: Callable[[str], str]) -> AnyWorkload:
    """Return a scenario's workload with other paths for its `files_of`; `other` maps each path."""
    if isinstance(workload, FailureDetection | GroupWorkload):
        return workload
    if isinstance(workload, RecordedWorkload):
        path = workload.path
        changed = other(path) if isinstance(path, str) else [other(file) for file in path]
        workload = replace(workload, path=changed)
    elif isinstance(workload.publishers, str):
        workload = replace(workload, publishers=other(workload.publishers))
    if isinstance(workload.subscribers, str):
        workload = replace(workload, subscribers=other(workload.subscribers))
    return workload


def _names_beside_attributes(publishing: bool, subscribing: bool) -> Problem:
    """Return the Problem of a workload with attributes and names of publishers or subscribers."""
    both = (("publishers", publishing), ("subscribers", subscribing))
    named = ", ".join(f"workload.{name}" for name, given in both if given)
    what = f"{named}: expected no names of nodes, because the workload has attributes"
    return Problem(what, remedy="leave the names out, or leave out attributes")


def _drawn_demand(workload: Workload, known: NamesAndSeed) -> Drawn:
    publishing = _named(workload.publishers)
    subscribing = _named(workload.subscribers)
    if workload.width > 1 and subscribing is not None:
        what = f"width = {workload.width}: expected 1, because subscribers have names"
        raise Problem(f"workload.{what}", remedy="list every topic of a subscriber")
    if workload.attributes is not None and (publishing, subscribing) != (None, None):
        raise _names_beside_attributes(publishing is not None, subscribing is not None)
    if workload.popularity == "uniform" and workload.exponent != 1.0:
        what = f'workload.exponent = {workload.exponent:g}: expected popularity = "zipf" as well'
        raise Problem(what, remedy="add popularity, or leave out the exponent")
    both = (*(publishing or ()), *(subscribing or ()))
    named = [role.topic for role in both if role.topic is not None]
    topics = _topics(workload, named)
    nodes = Names("node", known.names)
    brokers = _brokers(workload, nodes)
    publishers = subscribers = None
    periods: Mapping[tuple[int, int], Period] = {}
    stays: Mapping[tuple[int, int], Period] = {}
    if publishing is not None:
        publishers, stays = publishing_rows(publishing, nodes, topics, "workload.publishers")
    if subscribing is not None:
        subscribers, periods = subscribing_rows(subscribing, nodes, topics, "workload.subscribers")
    return Drawn(
        n=len(known.names),
        topics=len(topics.known),
        publishers_each=workload.publishers_each,
        subscribers_each=workload.subscribers_each,
        events=workload.events,
        every_s=workload.every_s,
        start_s=workload.start_s,
        arrivals=workload.arrivals,
        seed=known.seed,
        width=workload.width,
        exponent=workload.exponent if workload.popularity == "zipf" else 0.0,
        roles=GivenRoles(publishers, subscribers, periods, stays, brokers),
        payload=_payload(workload.payload_bytes, topics),
        attributes=tuple(workload.attributes or ()),
    )


def _topics(workload: Workload, named: Sequence[str]) -> Names:
    """Return the topics of a drawn workload, named by its roles or by number."""
    if workload.attributes is not None:
        cells = math.prod(workload.attributes)
        if cells > MOST_TOPICS or workload.topics not in (1, cells):
            what = f"workload.attributes = {workload.attributes}: {cells:,} combinations of values"
            bound = f"{workload.topics:,}, as `topics` says"
            if cells > MOST_TOPICS:
                bound = f"at most {MOST_TOPICS:,}"
            remedy = (
                "leave out `topics`" if cells <= MOST_TOPICS else "give attributes fewer values"
            )
            raise Problem(f"{what}: expected {bound}", remedy=remedy)
        return Names("topic", map(str, range(cells)))
    if not named:
        return Names("topic", map(str, range(workload.topics)))
    names = topic_names(named)
    if workload.topics not in (1, len(names)):
        what = f"workload.topics = {workload.topics}: expected {len(names)}"
        raise Problem(f"{what}, the topics with a named node", remedy="leave out `topics`")
    return Names("topic", names)


def _recorded(workload: RecordedWorkload, known: NamesAndSeed) -> Listed:
    paths = [workload.path] if isinstance(workload.path, str) else workload.path
    if not paths:
        raise Problem("workload.path = []: expected at least one file", remedy="name a file")
    parts = [read_events(path, workload.columns or {}) for path in paths]
    node = [name for part in parts for name in part.node]
    topic = [name for part in parts for name in part.topic]
    if not node:
        listed = ", ".join(map(str, paths))
        raise Problem("no events below the header: expected a line for each event", where=listed)
    subscribing = _named(workload.subscribers)
    named = [role.topic for role in subscribing or () if role.topic is not None]
    topics = Names("topic", topic_names([*topic, *named]))
    rows = _rows(workload, node, known, paths)
    number = [topics.known[name] for name in topic]
    times = [t for part in parts for t in part.time.tolist()]
    periods: Mapping[tuple[int, int], Period] = {}
    if subscribing is None:
        subscribers = _drawn_subscribers(workload, len(topics.known), rows, number, known)
    else:
        nodes = Names("node", known.names)
        subscribers, periods = subscribing_rows(subscribing, nodes, topics, "workload.subscribers")
    begin = min(times) if workload.begin is None else workload.begin
    sizes = _sizes(parts, workload, topics, number)
    kept = [k for k, t in enumerate(times) if t >= begin]
    if not kept:
        what = f"workload.begin = {begin:g}: expected at most {max(times):g} s, the time "
        what += "of the latest event"
        raise Problem(what, remedy="choose an earlier time")
    return Listed(
        [(row, number) for number, wanting in enumerate(subscribers) for row in wanting],
        [
            (workload.start_s + (times[k] - begin) * workload.scale, rows[k], number[k])
            for k in kept
        ],
        None if sizes is None else [sizes[k] for k in kept],
        periods,
        _brokers(workload, Names("node", known.names)),
    )


def _rows(
    workload: RecordedWorkload, node: Sequence[str], known: NamesAndSeed, paths: Sequence[str]
) -> list[int]:
    """Return the rows of the nodes in a scenario's recorded events: by name, or one drawn node for
    each name in the files.
    """
    where = f"workload.path ({', '.join(paths)})" if len(paths) < 3 else "workload.path"
    if workload.nodes == "named":
        nodes = Names("node", known.names)
        try:
            row_of = {name: nodes.number(name, where) for name in dict.fromkeys(node)}
        except Problem as problem:
            remedy = f'{problem.remedy}; or draw a node for each name: workload.nodes = "drawn"'
            raise Problem(problem.what, where=problem.where, remedy=remedy) from None
    else:
        names = topic_names(node)
        if len(names) > len(known.names):
            what = f"{len(names)} names of nodes: expected at most {len(known.names)}"
            raise Problem(what, where=where, remedy="use a larger network, or fewer names")
        order = drawn_order(len(known.names), known.seed, _STREAM)
        row_of = dict(zip(names, order.tolist(), strict=False))
    return [row_of[name] for name in node]


def _drawn_subscribers(
    workload: RecordedWorkload,
    topics: int,
    rows: Sequence[int],
    number: Sequence[int],
    known: NamesAndSeed,
) -> tuple[tuple[int, ...], ...]:
    """Return drawn subscribers of recorded events by topic, never a publisher of the topic."""
    publishers: list[set[int]] = [set() for _ in range(topics)]
    for row, topic in zip(rows, number, strict=True):
        publishers[topic].add(row)
    drawn = Drawn(
        len(known.names), topics, 1, workload.subscribers_each, 0, seed=known.seed,
        roles=GivenRoles(publishers=tuple(tuple(sorted(rows)) for rows in publishers)),
    )  # fmt: skip
    return tuple(tuple(rows_of_topic.tolist()) for rows_of_topic in drawn.subscribers)


def _named(names_by_topic: RolesByName | None) -> list[NamedRole] | None:
    """Return the roles that a scenario names, or None if the seed draws them."""
    match names_by_topic:
        case None:
            return None
        case str():
            return read_roles(names_by_topic)
        case dict():
            return [_role(role, topic) for topic, roles in names_by_topic.items() for role in roles]
    return [_role(role, None) for role in names_by_topic]


def _role(one: int | str | Member, topic: str | None) -> NamedRole:
    if not isinstance(one, Member):
        return NamedRole(str(one), topic)
    until_s = math.inf if one.until_s is None else one.until_s
    return NamedRole(str(one.node), topic, one.from_s, until_s)


def _brokers(workload: Workload | RecordedWorkload, nodes: Names) -> tuple[BrokerPeriod, ...]:
    """Return the brokers that a scenario names; () where the seed draws them."""
    if workload.brokers is None:
        return ()
    if not workload.brokers:
        remedy = "name a broker, or leave out `brokers`"
        raise Problem("workload.brokers = []: expected at least one node", remedy=remedy)
    roles = [
        (str(role.node), role.from_s, math.inf if role.until_s is None else role.until_s)
        if isinstance(role, BrokerMember)
        else (str(role), *ALWAYS)
        for role in workload.brokers
    ]
    return brokers_of(roles, nodes, "workload.brokers")


def _payload(sizes: int | dict[str, int] | None, topics: Names) -> list[int]:
    """Return the bytes of an event by topic that a scenario gives; [] for no payloads."""
    if sizes is None:
        return []
    if isinstance(sizes, int):
        return [sizes] * len(topics.known)
    sizes_by_topic = [0] * len(topics.known)
    for name, size in sizes.items():
        sizes_by_topic[topics.number(name, "workload.payload_bytes")] = size
    return sizes_by_topic


def _sizes(
    parts: Sequence[RecordedEvents],
    workload: RecordedWorkload,
    topics: Names,
    number: Sequence[int],
) -> list[int] | None:
    """Return the payload bytes of each recorded event: of its file, or else of the scenario.

    None: neither the files nor the scenario have sizes.
    """
    by_topic = _payload(workload.payload_bytes, topics)
    if not by_topic and all(part.size is None for part in parts):
        return None
    sizes: list[int] = []
    for part in parts:
        here = number[len(sizes) : len(sizes) + len(part.node)]
        own = [by_topic[topic] if by_topic else 0 for topic in here]
        sizes += own if part.size is None else part.size.tolist()
    return sizes
