"""The request of a comparison, from the options that `halfway compare` and `halfway check`
share.
"""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from halfway.cli.terminal.assignments import assignments
from halfway.cli.terminal.screen import spinner
from halfway.comparison.defaults import MAX_REPLICATES
from halfway.problem import Problem

if TYPE_CHECKING:
    from halfway.comparison.request import Request

_SWEEPING = ("workload.events=10,20", "give all values at once: FIELD=A,B,C")


class Asked(NamedTuple):
    """The options of `halfway compare` or `halfway check`, as typed; None stands for an absent
    one.
    """

    systems: list[str] | None
    user_systems: list[str] | None
    replicates: int
    changes: list[str] | None
    sweeps: list[str] | None
    baseline: str | None = None
    until: str | None = None
    max_replicates: int = MAX_REPLICATES
    needs: list[str] | None = None
    minimise: str = ""


def requested(scenario: Path, asked: Asked) -> "Request":
    """Return the request of a comparison from the options of `halfway compare` or `halfway check`.
    Raises Problem for options that do not fit.
    """
    changes = assignments(asked.changes, "--set")
    swept = assignments(asked.sweeps, "--sweep", *_SWEEPING)
    needs = assignments(asked.needs, "--need", "delivery-ratio=0.95")
    names = _names(asked.systems)
    with spinner("reading the scenario"):
        from halfway.comparison.request import read_request

        return read_request(
            scenario, names, user_systems=asked.user_systems or [], baseline=asked.baseline,
            replicates=asked.replicates, until=asked.until, max_replicates=asked.max_replicates,
            changes=changes, sweeps=swept, needs=needs, minimise=asked.minimise,
        )  # fmt: skip


def _names(systems: list[str] | None) -> list[str]:
    """Return the names in the option `--systems` of a requested comparison. Raises Problem if the
    list is empty.
    """
    names = [name for text in systems or [] for name in text.split(",")]
    if systems and not any(name.strip() for name in names):
        remedy = "name systems, such as --systems gossip,flooding, or leave the option out"
        raise Problem("--systems: expected at least one name", remedy=remedy)
    return names
