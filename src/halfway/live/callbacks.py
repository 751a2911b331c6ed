"""A callback without effect, the default until another part of a node sets its own."""


def ignore(*_: object) -> None:
    """Ignore all arguments of a callback."""
