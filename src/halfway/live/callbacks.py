"""A callback without effect: the default until another part of a live node sets its own
callback.
"""


def ignore(*_: object) -> None:
    """Ignore all arguments of a callback."""
