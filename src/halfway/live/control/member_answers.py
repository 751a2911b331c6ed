"""The answers to a request for members: the members that a node knows, and each later change."""

import asyncio
from collections.abc import AsyncGenerator

from halfway.live.control.control_requests import MemberAnswer, MembersRequest, Ready
from halfway.live.drops import Drop
from halfway.live.members import KnownMember
from halfway.live.runtime.mesh_node import MeshNode
from halfway.problem import Problem

MOST_CHANGES = 1024  # changes that wait for one command


async def member_answers(
    node: MeshNode, request: MembersRequest
) -> AsyncGenerator[MemberAnswer | Ready]:
    """Yield the answers to a request for the members of a node. Raises Problem for a node of a
    system that has no members, and Refusal for too many followers.
    """
    if node.members is None:
        what = f"system = {node.identity.system}: expected a failure detector"
        remedy = "start a node with `halfway node --system swim`, or choose one with --node NAME"
        raise Problem(f"{what}, because other systems have no members", remedy=remedy)
    changes: asyncio.Queue[KnownMember] = asyncio.Queue(MOST_CHANGES)

    def take(member: KnownMember) -> None:
        if changes.full():
            changes.get_nowait()
            node.drops.count(Drop.SLOW_SUBSCRIBER)
        changes.put_nowait(member)

    if request.follow:
        node.members.follow(take)
    try:
        for member in node.members.all():
            yield _answer(member)
        yield Ready()
        while request.follow:
            yield _answer(await changes.get())
    finally:
        node.members.unfollow(take)


def _answer(member: KnownMember) -> MemberAnswer:
    return MemberAnswer(
        member.node_id, member.name, member.state, round(member.since_s, 3), member.incarnation
    )
