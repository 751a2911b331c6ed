"""Patterns of topics, as certificates list them: levels, `+` for one level, `#` for the rest."""

from collections.abc import Iterable

MOST_BYTES = 200  # of one pattern in UTF-8


def pattern_error(pattern: str) -> str:
    """Return why a text is no pattern: what was expected; empty if it is one."""
    levels = pattern.split("/")
    if not 0 < len(pattern.encode()) <= MOST_BYTES:
        return f"expected 1 to {MOST_BYTES} bytes"
    if "\0" in pattern:
        return "expected no zero character"
    if "#" in levels[:-1] or any(len(one) > 1 and ("#" in one or "+" in one) for one in levels):
        return "expected + as a whole level, and # as the last level"
    return ""


def covers(pattern: str, wanted: str) -> bool:
    """Whether a pattern allows a topic, or everything that a topic filter can match.

    As in MQTT, `a/#` includes `a`, and a wildcard in the first level excludes topics with `$`.
    """
    allowed, levels = pattern.split("/"), wanted.split("/")
    if wanted.startswith("$") and allowed[0] in ("#", "+"):
        return False
    for place, level in enumerate(allowed):
        if level == "#":
            return True
        if place == len(levels) or levels[place] == "#":
            return False
        if level not in ("+", levels[place]):
            return False
    return len(levels) == len(allowed)


def any_covers(patterns: Iterable[str], wanted: str) -> bool:
    """Whether one of the patterns allows a topic or a topic filter."""
    return any(covers(pattern, wanted) for pattern in patterns)
