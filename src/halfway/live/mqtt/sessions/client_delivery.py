"""A message on its way to one client."""

from typing import NamedTuple

from halfway.live.mqtt.sessions.messages import Message


class ClientDelivery(NamedTuple):
    """A message for one client, as its subscriptions ask for it."""

    message: Message
    qos: int
    retain: bool = False
    subscription_ids: tuple[int, ...] = ()
    share: tuple[str, str] | None = None  # name and filter of the shared subscription
    saved: int = 0  # its number on disk; 0: it is not there
