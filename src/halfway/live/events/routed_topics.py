"""Routed topics: a live system that routes by topic knows only the first two levels of a topic."""

from halfway.live.events.topic_numbers import EVERYTHING
from halfway.live.topic_filters import is_wild

_DEPTH = 2  # levels of a topic that a routed system knows


def routed_topic(topic: str) -> str:
    """Return the routed topic of an event, by its topic."""
    return "/".join(topic.split("/")[:_DEPTH])


def routed_filter(topic_filter: str) -> str:
    """Return the routed topic that covers a subscription's filter."""
    first = topic_filter.split("/")[:_DEPTH]
    # "a/b/#" also matches "a/b", and "a/#" also matches "a". The first filter covers one routed
    # topic, the second one does not.
    return EVERYTHING if is_wild("/".join(first)) else "/".join(first)
