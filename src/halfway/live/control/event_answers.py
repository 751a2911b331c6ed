"""The answers to a subscription by a command: the retained values, and each later event.

A retained value from before the subscription may come after the first answers, from a neighbour.
"""

from collections.abc import AsyncGenerator

from halfway.live.control.control_requests import Arrived, Ready, SubscribeRequest
from halfway.live.dropping_queue import DroppingQueue
from halfway.live.mesh import Event
from halfway.live.runtime.mesh_node import MeshNode


async def event_answers(
    node: MeshNode, request: SubscribeRequest
) -> AsyncGenerator[Ready | Arrived]:
    """Yield the answers to a subscription at a node, without end. Raises Refusal; see
    `Mesh.subscribe`.
    """
    events, begun = DroppingQueue[Arrived](node.drops), node.scheduler.now()

    def take(event: Event) -> None:
        is_older = event.age_s > node.scheduler.now() - begun
        events.take(_arrived(event, retained=event.retain and is_older))

    subscription = node.subscribe(request.filter, take)
    try:
        yield Ready()
        for value in node.retained(request.filter):
            yield _arrived(value, retained=True)
        async for arrived in events:
            yield arrived
    finally:
        node.unsubscribe(subscription)


def _arrived(event: Event, *, retained: bool) -> Arrived:
    return Arrived(
        topic=event.topic, payload=event.payload, publisher=event.publisher, epoch=event.epoch,
        number=event.number, age_s=event.age_s, hops=event.hops, retained=retained,
        local=event.local,
    )  # fmt: skip
