"""The members of a scenario, by name or drawn by the seed: of its groups, which may send messages,
and of failure detection.
"""

import math
from collections.abc import Iterator, Sequence

from halfway.problem import Problem
from halfway.scenario.schema import FailureDetection, GroupMember, GroupWorkload, Requests
from halfway.world.faults import Node
from halfway.world.workload.groups.group_workload import Groups, Stay, drawn_stays
from halfway.world.workload.groups.member_topics import MessagedGroups
from halfway.world.workload.groups.monitoring import FEWEST, Monitoring, drawn_members
from halfway.world.workload.groups.request_workload import ReplicatedResources, RequestRules
from halfway.world.workload.named_roles import Names, topic_names

_STREAM = 2**31  # of the seeds of groups, apart from those of topics
_MEMBERS = "workload.members"


def groups_of(workload: GroupWorkload, names: Sequence[str], seed: int) -> Groups:
    """Build the groups of a scenario with nodes of these names. Raises Problem naming the field."""
    requests = workload.requests
    if workload.members is None:
        stays = drawn_stays(
            len(names),
            workload.groups,
            workload.members_each,
            join_s=workload.join_s,
            stay_s=workload.stay_s,
            publishes=workload.role != "subscribe",
            subscribes=workload.role != "publish",
            seed=seed + _STREAM,
            clients_each=0 if requests is None else requests.clients_each,
        )
    else:
        stays = list(_named(workload, names))
    announce_s = workload.announce_s
    if workload.views == "system":
        if not all(stay.publishes and stay.subscribes for stay in stays):
            what = 'workload.views = "system": expected the role "both" of all members'
            raise Problem(what, remedy="leave out the roles, or leave out views")
        announce_s = 0.0
    groups = Groups(stays, announce_s, workload.lifetime_s, workload.start_s, seed)
    return groups if requests is None else _with_requests(groups, requests)


def monitoring_of(workload: FailureDetection, names: Sequence[str], seed: int) -> Monitoring:
    """Build the failure detection of a scenario with nodes of these names; the seed draws the
    members that have no names. Raises Problem naming the field.
    """
    if workload.members is None:
        return Monitoring(workload.start_s)
    if isinstance(workload.members, int):
        return Monitoring(workload.start_s, drawn_members(len(names), workload.members, seed))
    nodes, rows = Names("node", names), list[int]()
    for name in map(str, workload.members):
        row = nodes.number(name, _MEMBERS)
        if row in rows:
            what = f"node '{name}' is a member twice"
            raise Problem(what, where=_MEMBERS, remedy="give each member once")
        rows.append(row)
    if len(rows) < FEWEST:
        what = f"workload.members = {list(workload.members)}: expected at least {FEWEST} nodes"
        raise Problem(what, remedy="name more members, or leave out members")
    return Monitoring(workload.start_s, sorted(rows))


def with_messages(groups: object, reaction_s: float, addressed: bool) -> MessagedGroups:
    """Return the groups of a scenario with members that send messages, by applications.

    Raises TypeError for another demand.
    """
    if not isinstance(groups, Groups):
        raise TypeError("expected groups")
    return MessagedGroups(
        groups.stays,
        groups.announce_s,
        groups.lifetime_s,
        groups.start_s,
        groups.seed,
        reaction_s,
        addressed,
    )


def _with_requests(groups: Groups, requests: Requests) -> ReplicatedResources:
    """Return the groups of a scenario whose members replicate a resource."""
    writes_every_s = math.inf if requests.writes_every_s is None else requests.writes_every_s
    made = ReplicatedResources(
        groups.stays, groups.announce_s, groups.lifetime_s, groups.start_s, groups.seed,
        RequestRules(
            requests.every_s, requests.timeout_s, requests.tries, writes_every_s,
            requests.reaction_s, requests.resource_bytes,
        ),
    )  # fmt: skip
    if not all(made.replicas) or not all(made.clients):
        what = "workload.requests: expected members that publish and clients in each group"
        raise Problem(what, remedy='a member with the role "subscribe" is a client')
    return made


def _named(workload: GroupWorkload, names: Sequence[str]) -> Iterator[Stay]:
    """Yield the stays of a scenario's members by name."""
    defaults = {"groups": 1, "members_each": 10, "join_s": (0.0, 5.0), "stay_s": None}
    for field, default in defaults.items():
        if (value := getattr(workload, field)) != default:
            what = f"workload.{field} = {value}: expected no value, because members have names"
            raise Problem(what, remedy=f"leave out {field}, or leave out members")
    if workload.requests is not None and workload.requests.clients_each != Requests().clients_each:
        what = f"workload.requests.clients_each = {workload.requests.clients_each}"
        remedy = 'leave out clients_each, and give clients the role "subscribe"'
        raise Problem(f"{what}: expected no value, because members have names", remedy=remedy)
    members = workload.members
    by_group = members if isinstance(members, dict) else {"0": members or []}
    groups, nodes = Names("group", topic_names(by_group)), Names("node", names)
    for name, members_of_group in by_group.items():
        known: set[int] = set()
        for member in members_of_group:
            stay = _stay(member, groups.known[name], nodes, workload.role)
            if stay.row in known:
                what = f"node '{names[stay.row]}' joins group '{name}' twice"
                raise Problem(what, where=_MEMBERS, remedy="give each member of a group once")
            known.add(stay.row)
            yield stay


def _stay(entry: Node | GroupMember, group: int, nodes: Names, role: str) -> Stay:
    """Return the stay of a named member of a scenario's group."""
    member = entry if isinstance(entry, GroupMember) else GroupMember(node=entry)
    until_s = math.inf if member.until_s is None else member.until_s
    row = nodes.number(str(member.node), _MEMBERS)
    if not 0.0 <= member.from_s < until_s:
        what = f"node '{member.node}': from_s = {member.from_s:g}, until_s = {until_s:g}"
        raise Problem(f"{what}: expected 0 <= from_s < until_s", where=_MEMBERS)
    role = member.role or role
    return Stay(row, group, member.from_s, until_s, role != "subscribe", role != "publish")
