"""The topic patterns in certificates: topic filters of at most 200 bytes."""

from functools import lru_cache

from halfway.live.topic_filters import covers, filter_problem

MOST_BYTES = 200  # of one pattern in UTF-8
REMEMBERED = 256  # topics whose patterns a process remembers


def pattern_error(pattern: str) -> str:
    """Return the reason why a text is not a topic pattern, or an empty text."""
    if not 0 < len(pattern.encode()) <= MOST_BYTES:
        return f"expected 1 to {MOST_BYTES} bytes"
    return filter_problem(pattern)


@lru_cache(REMEMBERED)
def any_covers(patterns: tuple[str, ...], wanted: str) -> bool:
    """Return whether one of a certificate's topic patterns covers a topic or a topic filter."""
    return any(covers(pattern, wanted) for pattern in patterns)
