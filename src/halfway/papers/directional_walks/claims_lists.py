"""The lists of members of paper 1, §2: the points of the figure and its judge, with "it then stops"
in three interpretations.

The paper prints no numbers for §2. The networks, the sizes of groups and the times are ours.
"""

from collections.abc import Iterator
from functools import partial

from halfway.papers.directional_walks.detector_points import DEGREE, REFRESH_S, SIZES
from halfway.pipeline.plan.run import Point, Scalar
from halfway.pipeline.reproduction.figures import Scale, Summaries
from halfway.pipeline.reproduction.judge import judge_range
from halfway.pipeline.reproduction.verdict import Verdict

LISTS = "halfway.papers.directional_walks.lists:lists"
MEMBERS = (2, 4, 8, 16)
# An interpretation, and the seconds between two launches of a walk; 0: launched once, as printed.
READ = (("merge", 0.0), ("stop", 0.0), ("stop", REFRESH_S), ("go-on", 0.0))
BOTH, ONE = "both", "one each"  # roles of the members
ONE_ROLE_MEMBERS = 10  # in a group whose members have one role each; not one of MEMBERS
# An interpretation, the seconds between two launches, the size of a group, and the roles of its
# members.
# Paths expire if walks are launched again, so with one role, they are launched once.
CELLS = (
    *((*read, members, BOTH) for read in READ for members in MEMBERS),
    *((*read, ONE_ROLE_MEMBERS, ONE) for read in READ if read[1] == 0.0),
)
GROUPS = (
    "a group on a static network; its members have both roles, and join within 10 s; networks: "
    "uniform points, redrawn until connected, mean degree 12 without borders; no losses"
)
ONE_ROLE = (
    '"a publication or a subscription message": with one role each, half of the members only '
    "publish, and the others only subscribe; then a member lists those to which its node has a path"
)
THREE_INTERPRETATIONS = (
    '"It then stops the dissemination": merge: a walk stops, and the nodes of its path pass on the '
    "members that they learn; stop: a walk stops at the first other trail; go-on: a walk goes on"
)
_row = partial(Verdict, "directional-walks", "section-2-lists")
_LISTED = {
    BOTH: "share of the other members that a member lists",
    ONE: "share of the other members to which a member's node has a path",
}
_MEASURED = {
    "stretch": "hops of the path to another member, divided by those of a shortest path",
    "messages": "messages for each member in 100 s",
}
LIST = "each node gets the list of all the members of the group"


def list_points(scale: Scale) -> list[Point]:
    """Declare the points of the lists of members in paper 1, §2, by interpretation and kind of
    group.
    """
    return [_point(SIZES[scale], *cell) for cell in CELLS]


def _point(n: int, interpretation: str, refresh_s: float, members: int, roles: str) -> Point:
    parameters: dict[str, Scalar] = {
        "n": n,
        "degree": DEGREE,
        "reading": interpretation,
        "refresh_s": refresh_s,
        "members": members,
    }
    parameters |= {} if roles == BOTH else {"roles": roles}
    cost_ms = 5.0 * members**2 if interpretation == "go-on" else 20.0
    return Point(LISTS, parameters, ("n", "degree"), cost_ms)


def judge_lists(summaries: Summaries) -> Iterator[Verdict]:
    """Judge the lists of members of paper 1: whether each member gets the whole list [drw §2] in an
    interpretation, and its cost.
    """
    for metric in ("listed", "stretch", "messages"):
        for interpretation, refresh_s, members, roles in CELLS:
            seen = summaries.find(
                metric, reading=interpretation, refresh_s=refresh_s, members=members
            )
            mean = seen.mean, seen.mean_low, seen.mean_high
            walks = f"every {refresh_s:g} s" if refresh_s else "once"
            cell: dict[str, Scalar] = {"reading": interpretation, "walks": walks}
            cell["members"] = members
            cell |= {} if roles == BOTH else {"roles": roles}
            if metric == "listed":
                yield _row(
                    cell, _LISTED[roles], LIST, *mean, seen.networks,
                    "measured from 90 s on; all members have joined at 10 s",
                    *judge_range(1.0, 1.0, *mean, rounding=0.0),
                )  # fmt: skip
            else:
                yield _row(
                    cell, _MEASURED[metric], None, *mean, seen.networks,
                    "sizes and times are ours", "ours open", "the paper measures none of it",
                )  # fmt: skip
