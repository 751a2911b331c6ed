"""The delivery of one message to one MQTT client."""

from typing import NamedTuple

from halfway.live.mqtt.sessions.messages import Message


class ClientDelivery(NamedTuple):
    """A message for one MQTT client, with the QoS and properties of its subscriptions."""

    message: Message
    qos: int
    retain: bool = False
    subscription_ids: tuple[int, ...] = ()
    share: tuple[str, str] | None = None  # name and filter of the shared subscription
    saved: int = 0  # number of the message on disk; 0: not on disk
