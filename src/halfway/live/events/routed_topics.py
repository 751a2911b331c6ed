"""The topics that a routed system knows: the first two levels of a topic, or all topics."""

from halfway.live.events.topic_numbers import EVERYTHING
from halfway.live.topic_filters import is_wild

_DEPTH = 2  # levels of a topic that a routed system knows


def routed_topic(topic: str) -> str:
    """Return the topic by which a routed system knows an event on a topic."""
    return "/".join(topic.split("/")[:_DEPTH])


def routed_filter(topic_filter: str) -> str:
    """Return the topic to which a routed system subscribes for a filter."""
    first = topic_filter.split("/")[:_DEPTH]
    # "a/b/#" matches "a/b" too, and "a/#" matches "a": the first is one topic, the second is not.
    return EVERYTHING if is_wild("/".join(first)) else "/".join(first)
