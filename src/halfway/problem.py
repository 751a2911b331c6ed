"""`Problem`: the error class for everything that a user can fix. Every package may raise it."""

from functools import partial


class Problem(Exception):
    """A problem that the user can fix: what happened, where, and what to do.

    `str(problem)` is one line; the command line prints it and exits with status 2.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        line = f"{where}: {what}" if where else what
        super().__init__(f"{line} ({remedy})" if remedy else line)

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling, and Spark pickles errors.
        return partial(type(self), where=self.where, remedy=self.remedy), (self.what,)


def reason_of(error: OSError) -> str:
    """Return the reason of an error of the operating system, without its number and its path."""
    return (error.strerror or str(error)).lower()
