"""The answers to a subscription by a command: the retained values, and each later event."""

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
    events = DroppingQueue[Event](node.drops)
    subscription = node.subscribe(request.filter, events.take)
    try:
        yield Ready()
        for event in node.retained(request.filter):
            yield _arrived(event, retained=True)
        async for event in events:
            yield _arrived(event, retained=False)
    finally:
        node.unsubscribe(subscription)


def _arrived(event: Event, *, retained: bool) -> Arrived:
    return Arrived(
        topic=event.topic, payload=event.payload, publisher=event.publisher, epoch=event.epoch,
        number=event.number, age_s=event.age_s, hops=event.hops, retained=retained,
        local=event.local,
    )  # fmt: skip
