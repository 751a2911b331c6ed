"""Paper 2, §IV judged (its claims about earlier work), and our rule for giving up a walk."""

import math
from collections.abc import Iterator
from functools import partial
from itertools import pairwise, product

from halfway.papers.claims.thresholds import VERY_NEAR, percent
from halfway.papers.walk_overlay.claims_path import SIZES, WALKS
from halfway.papers.walk_overlay.paired_estimates import judge_ratio, verdict_row
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_order, ours
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import ratio

# [dwo (2)] α and β; the first is cost (3)
WEIGHTS = ((1.0, 0.0), (1.0, 0.5), (1.0, 1.0), (0.0, 1.0))
RUMOR = (0.0, 0.0)  # only the nodes that it passed repel the walk
BRANCHES = (1, 2)
MEASURED = (("steps", "steps until they meet"), ("active", "active nodes"))
JOINED = (1, 5, 50)  # initiators present when the walk that may give up starts
MULTIPLES = (1, 2, 3, 5)  # of the mean number of steps, after which a walk may give up


def judge_section_4(summaries: Summaries) -> Iterator[Verdict]:
    """Judge paper 2's walks [dwo §IV]: cost (2) with α and β, one and two branches."""
    for n in SIZES:
        at = partial(summaries.find, n=n, system=WALKS[0])
        for branches, (alpha, beta) in product(BRANCHES, WEIGHTS[1:]):
            yield judge_ratio(
                "section-4",
                {"n": n, "alpha": alpha, "beta": beta, "branches": branches},
                "distance of a lone walk, with / without second neighbourhoods",
                "does not improve the Euclidean distance traversed",
                at("reach", alpha=alpha, beta=beta, branches=branches),
                at("reach", alpha=1.0, beta=0.0, branches=branches),
                "largest distance between nodes of a walk after 30 steps; "
                "compared with α = 1, β = 0",
            )
        for (alpha, beta), (metric, what) in product(WEIGHTS, MEASURED):
            single, double = (at(metric, alpha=alpha, beta=beta, branches=b) for b in BRANCHES)
            share = ratio(single, double, "mean")
            cell: dict[str, Scalar] = {"n": n, "alpha": alpha, "beta": beta}
            yield verdict_row(
                "section-4", cell, f"mean {what}, one / two branches",
                "the use of one branch is as efficient", *share,
                single.networks, f'"as efficient" means at most {percent(VERY_NEAR)} more',
                *judge_order(*share, equal=1 + VERY_NEAR),
            )  # fmt: skip
    yield from _rumors(summaries)
    for (less, more), k in product(pairwise(SIZES), BRANCHES):
        at = partial(summaries.find, "path", system=WALKS[0], alpha=1.0, beta=0.0, branches=k)
        yield judge_ratio(
            "section-4", {"n": f"{more} / {less}", "branches": k},
            "mean hops of the path, more / less dense", "shorter paths are obtained", at(n=more),
            at(n=less), "path between two initiators through the meeting node",
        )  # fmt: skip
    for n in SIZES:
        at = partial(summaries.find, "steps", n=n, alpha=1.0, beta=0.0, branches=1)
        yield judge_ratio(
            "section-4", {"n": n}, "mean steps until they meet, DRW / PRW",
            "DRWs decrease the time to intersection", at(system=WALKS[0]), at(system=WALKS[1]),
            "steps of both walks together",
        )  # fmt: skip


def _rumors(summaries: Summaries) -> Iterator[Verdict]:
    """Judge paper 2's walks against Rumor Routing with an infinite memory [dwo §IV]."""
    for n, (metric, what) in product(SIZES, MEASURED):
        at = partial(summaries.find, metric, n=n, system=WALKS[0], branches=1)
        walk, rumor = at(alpha=1.0, beta=0.0), at(alpha=RUMOR[0], beta=RUMOR[1])
        share = ratio(walk, rumor, "mean")
        yield verdict_row(
            "section-4", {"n": n}, f"mean {what}, DRW / Rumor Routing",
            "as good as a traditional Rumor Routing algorithm", *share, walk.networks,
            "Rumor Routing with an infinite memory: two walks that avoid only the nodes that they "
            "passed (α = β = 0); double ruling is not measured; "
            f'"as good" means at most {percent(VERY_NEAR)} more',
            *judge_order(*share, equal=1 + VERY_NEAR),
        )  # fmt: skip


def judge_stopping(summaries: Summaries) -> Iterator[Verdict]:
    """Judge our rule by which a walk of the overlay gives up after c mean numbers of steps, and
    compare its error with e^-c.
    """
    for n, system, there, c in product(SIZES, WALKS, JOINED, MULTIPLES):
        at = partial(summaries.find, n=n, system=system, initiators=there)
        late, spent = at(f"late after {c} means"), at(f"spent after {c} means")
        estimate = (late.mean, late.mean_low, late.mean_high)
        yield verdict_row(
            "stopping-rule", {"n": n, "system": system, "initiators there": there, "means": c},
            "share of walks given up too early", None, *estimate, late.networks,
            f"our rule: at most e^-c = {math.exp(-c):.3g}, as if the steps were exponential; "
            f"a walk given up has cost {spent.mean:.2f} n steps",
            *ours(judge_order(*estimate, equal=math.exp(-c))),
        )  # fmt: skip
