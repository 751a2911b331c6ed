"""The verdict row of a reproduced figure: published value, measured value, and opinion."""

from typing import Literal

import msgspec

from halfway.pipeline.plan.run import Scalar

NO_VALUE = "\N{EN DASH}"  # how reports show a missing value
# The last three opinions are for statements of ours, which no paper prints. Then `published` is
# None.
Opinion = Literal[
    "agrees",
    "same trend",
    "opposite trend",
    "differs",
    "impossible as printed",
    "not comparable",
    "ours holds",
    "ours fails",
    "ours open",
]


class Verdict(msgspec.Struct, frozen=True):
    """The verdict on a figure's cell. `--json` prints exactly these fields, one object per line."""

    paper: str
    figure: str
    cell: dict[str, Scalar]  # the point's parameters that identify this cell of the figure
    metric: str  # what is compared, unit last ("median steps")
    published: float | str | None  # the paper's number, or its clause as printed; None: ours
    measured: float | None
    low: float | None  # 95 % interval, networks as clusters
    high: float | None
    replicates: int  # independent networks of the measured value
    # Our interpretation of the paper. In published rows, this column has the name `reading`.
    interpretation: str = msgspec.field(name="reading")
    verdict: Opinion
    reason: str
