"""The topic names of the MQTT door: limits of topics and filters, and shared subscriptions."""

from halfway.live.topic_filters import filter_problem, topic_problem

LEVELS_MAXIMUM = 128  # most levels of a topic or filter; deeper ones are refused
SHARE = "$share/"


def is_topic(topic: str) -> bool:
    """Return whether the MQTT door accepts a text as the topic name of a message."""
    return not topic_problem(topic) and topic.count("/") < LEVELS_MAXIMUM


def is_filter(topic_filter: str) -> bool:
    """Return whether the MQTT door accepts a text as a topic filter."""
    return not filter_problem(topic_filter) and topic_filter.count("/") < LEVELS_MAXIMUM


def shared(topic_filter: str) -> tuple[str, str] | None:
    """Return the share name and the filter of a shared subscription [mqtt5 §4.8.2]; else None.

    Either may be in a form that `is_share_name` or `is_filter` refuses.
    """
    if not topic_filter.startswith(SHARE):
        return None
    name, _, inner = topic_filter[len(SHARE) :].partition("/")
    return name, inner


def is_share_name(name: str) -> bool:
    """Return whether the MQTT door accepts a text as the name of a shared subscription."""
    return name != "" and not set(name) & {"+", "#", "/"}
