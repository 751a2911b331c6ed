"""The callback that has no effect, for a part of a node until another part sets its own."""


def ignore(*_: object) -> None:
    """Ignore the arguments of a callback."""
