"""The answers to a request for members: the members that a node knows, and each later change."""

from collections.abc import AsyncGenerator

from halfway.live.control.control_requests import MemberAnswer, MembersRequest, Ready
from halfway.live.dropping_queue import DroppingQueue
from halfway.live.members import KnownMember
from halfway.live.runtime.mesh_node import MeshNode
from halfway.problem import Problem


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
    changes = DroppingQueue[KnownMember](node.drops)
    if request.follow:
        node.members.follow(changes.take)
    try:
        for member in node.members.all():
            yield _answer(member)
        yield Ready()
        if request.follow:
            async for member in changes:
                yield _answer(member)
    finally:
        node.members.unfollow(changes.take)


def _answer(member: KnownMember) -> MemberAnswer:
    return MemberAnswer(
        member.node_id, member.name, member.state, round(member.since_s, 3), member.incarnation
    )
