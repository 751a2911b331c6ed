"""Paper 2, §IV judged (its claims about earlier work), and our rule for giving up a walk."""

import math
from collections.abc import Iterator
from functools import partial

from halfway.papers.walk_overlay.claims_path import SIZES, WALKS
from halfway.pipeline.judge import judge_number, judge_order
from halfway.pipeline.measure import ratio
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.study import Summaries
from halfway.pipeline.verdict import Verdict

_row = partial(Verdict, "walk-overlay")

# [dwo (2)] α and β; the first is cost (3)
WEIGHTS = ((1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (0.0, 1.0))
RUMOR = (0.0, 0.0)  # only the nodes that it passed repel the walk
BRANCHES = (1, 2)
JOINED = (1, 5, 50)  # initiators present when the walk that may give up starts
MULTIPLES = (1, 2, 3, 5)  # of the mean number of steps, after which a walk may give up
EFFICIENT = 0.10  # largest difference of means that counts as "as efficient"


def judge_section_4(found: Summaries) -> Iterator[Verdict]:
    """[dwo §IV] cost (2) with α and β, one and two branches."""
    for n in SIZES:
        at = partial(found.find, n=n, system=WALKS[0])
        for branches in BRANCHES:
            for alpha, beta in WEIGHTS[1:]:
                one = at("reach", alpha=1.0, beta=0.0, branches=branches)
                two = at("reach", alpha=alpha, beta=beta, branches=branches)
                share = ratio(two, one, "mean")
                yield _row(
                    "section-4",
                    {"n": n, "alpha": alpha, "beta": beta, "branches": branches},
                    "distance of a lone walk, with / without second neighbourhoods",
                    "does not improve", *share, one.networks,
                    "largest distance between its nodes after 30 steps; against α = 1, β = 0",
                    *judge_order(*share),
                )  # fmt: skip
        for alpha, beta in WEIGHTS:
            for metric, what in (("steps", "steps until they meet"), ("active", "active nodes")):
                single, double = (at(metric, alpha=alpha, beta=beta, branches=b) for b in BRANCHES)
                share = ratio(single, double, "mean")
                cell: dict[str, Scalar] = {"n": n, "alpha": alpha, "beta": beta}
                yield _row(
                    "section-4", cell, f"mean {what}, one / two branches", "as efficient", *share,
                    single.networks, f"within {EFFICIENT:.0%}".replace("%", " %"),
                    *judge_number(1.0, *share, relative=EFFICIENT, rounding=0.0),
                )  # fmt: skip
    for less, more in ((1000, 2000), (2000, 3000)):
        for branches in BRANCHES:
            at = partial(found.find, "path", system=WALKS[0], alpha=1.0, beta=0.0)
            share = ratio(at(n=more, branches=branches), at(n=less, branches=branches), "mean")
            yield _row(
                "section-4", {"n": f"{more} / {less}", "branches": branches},
                "mean hops of the path, more / less dense", "shorter with density", *share,
                at(n=less, branches=branches).networks,
                "between two initiators through the meeting", *judge_order(*share),
            )  # fmt: skip
    for n in SIZES:
        at = partial(found.find, "steps", n=n, alpha=1.0, beta=0.0, branches=1)
        share = ratio(at(system=WALKS[0]), at(system=WALKS[1]), "mean")
        yield _row(
            "section-4", {"n": n}, "mean steps until they meet, DRW / PRW", "DRWs faster", *share,
            at(system=WALKS[0]).networks, "both walks together", *judge_order(*share),
        )  # fmt: skip


def judge_stopping(found: Summaries) -> Iterator[Verdict]:
    """Our rule: give up after c mean numbers of steps. Compare its error with e^-c."""
    for n in SIZES:
        for system in WALKS:
            for there in JOINED:
                at = partial(found.find, n=n, system=system, initiators=there)
                for c in MULTIPLES:
                    late, spent = at(f"late after {c} means"), at(f"spent after {c} means")
                    estimate = (late.mean, late.mean_low, late.mean_high)
                    cell: dict[str, Scalar] = {
                        "n": n, "system": system, "initiators there": there, "means": c,
                    }  # fmt: skip
                    opinion, reason = judge_order(*estimate, equal=math.exp(-c))
                    yield _row(
                        "stopping-rule", cell, "share of walks given up too early",
                        f"at most {math.exp(-c):.3g}", *estimate, late.networks,
                        "our rule: e^-c if the number of steps is exponential; a walk given up has "
                        f"cost {spent.mean:.2f} n steps", opinion, reason,
                    )  # fmt: skip
