"""What went wrong, in the user's words. Every room may raise it; the command line prints it."""


class Problem(Exception):  # noqa: N818 - it names what the user has, not our error
    """Something the user can mend: what happened, where, and what to do about it.

    `str(problem)` is one line; the command line prints it and exits with status 2.
    """

    def __init__(self, what: str, *, where: str = "", remedy: str = "") -> None:
        self.what, self.where, self.remedy = what, where, remedy
        line = f"{where}: {what}" if where else what
        super().__init__(f"{line} ({remedy})" if remedy else line)

    def __reduce__(self) -> tuple[object, ...]:
        # Keyword-only arguments do not survive the default pickling, and Spark pickles errors.
        return _problem, (type(self), self.what, self.where, self.remedy)


def _problem(sort: type[Problem], what: str, where: str, remedy: str) -> Problem:
    return sort(what, where=where, remedy=remedy)
