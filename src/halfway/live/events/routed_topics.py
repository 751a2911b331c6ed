"""Routed topics: how a live system that routes by topic sees topics, by their first two levels or
as one.
"""

from halfway.live.events.topic_numbers import EVERYTHING
from halfway.live.topic_filters import is_wild

_DEPTH = 2  # levels of a topic that a routed system knows


def routed_topic(topic: str) -> str:
    """Return the routed topic of an event, by its topic."""
    return "/".join(topic.split("/")[:_DEPTH])


def routed_filter(topic_filter: str) -> str:
    """Return the routed topic that covers a subscription's filter."""
    first = topic_filter.split("/")[:_DEPTH]
    # "a/b/#" matches "a/b" too, and "a/#" matches "a": the first is one topic, the second is not.
    return EVERYTHING if is_wild("/".join(first)) else "/".join(first)
