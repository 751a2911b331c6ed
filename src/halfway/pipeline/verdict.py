"""The row that a study ends in: what was printed, what we measured, and what follows."""

from typing import Literal

import msgspec

from halfway.pipeline.plan.run import Scalar

Opinion = Literal["agrees", "same trend", "differs", "impossible as printed", "not comparable"]


class Verdict(msgspec.Struct, frozen=True):
    """One judged cell. `--json` prints exactly these fields, one object a line."""

    paper: str
    figure: str
    cell: dict[str, Scalar]  # the point's parameters that name this cell of the figure
    metric: str  # what is compared, unit last ("median steps")
    published: float | str | None  # the paper's number, or its claim as printed ("6-10")
    measured: float | None
    low: float | None  # 95 % interval, networks as clusters
    high: float | None
    replicates: int  # independent networks behind the measured value
    reading: str  # how we read the paper here
    verdict: Opinion
    reason: str
