"""Paper 2's claim about nodes outside the overlay, judged: energy and messages that they save."""

from collections.abc import Iterator
from functools import partial
from itertools import product

from halfway.papers.walk_overlay.claims_path import SIZES
from halfway.papers.walk_overlay.paired_estimates import judge_ratio
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.verdict import Verdict

HELLO = {
    "given": "neighbours known without messages, as in the paper",
    "sent": "each node learns its neighbours from hellos, about one hello per second",
}
_SAVED = "are able to save energy and computing resources"
_MEASURED = {"": "energy of a node", "handled ": "messages of a node"}


def judge_uninvolved(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the claim that nodes outside paper 2's overlay save energy and computing [dwo §III]:
    against overlay nodes, and against flooding, which the paper does not compare.
    """
    for n, (hello, known), (prefix, what) in product(SIZES, HELLO.items(), _MEASURED.items()):
        at = partial(summaries.find, n=n, hello=hello)
        cell: dict[str, Scalar] = {"n": n, "hello": hello}
        outside = at(f"{prefix}outside")
        yield judge_ratio(
            "uninvolved", cell, f"mean {what}, outside / in the overlay", _SAVED, outside,
            at(f"{prefix}inside"), known,
        )  # fmt: skip
        yield judge_ratio(
            "uninvolved", cell, f"mean {what} outside the overlay, walk-overlay / flooding", None,
            outside, at(f"{prefix}flooding"), f"the same nodes and events; {known}",
        )  # fmt: skip
