"""The metrics of groups: the accuracy of the members' views, and how fast views follow changes."""

from halfway.comparison.evaluation import members
from halfway.comparison.evaluation.comparison_results import Metric
from halfway.comparison.evaluation.outcome_parts import ValueOf, reader

_read = reader(lambda o: o.groups)


METRICS: tuple[tuple[Metric, ValueOf], ...] = (
    (Metric("view-accuracy", "view accuracy", "",
            "The time in which a listed member is in the group and up, divided by the time in "
            "which views list the member.", "more", most=1.0),
     _read(lambda g: g.accuracy)),
    (Metric("join-convergence", "join until all list it", "s",
            "The mean time from the join of a member, or from the return of its node, until all "
            "viewers list the member. A change counts only if it converges before the next change "
            "of the same member. The viewers are the subscribing members that are up at the change "
            "and stay."),
     _read(lambda g: g.join_s)),
    (Metric("leave-convergence", "leave until none lists it", "s",
            "The mean time from the leave of a member until no viewer lists the member."),
     _read(lambda g: g.leave_s)),
    (Metric("crash-convergence", "crash until none lists it", "s",
            "The mean time from the crash of a member until no viewer lists the member."),
     _read(lambda g: g.crash_s)),
    (Metric("newcomer-time", "newcomer lists all", "s",
            "The mean time from the join of a viewer until it lists all members of its group for "
            "the first time."),
     _read(lambda g: g.newcomer_s)),
    (Metric("converged-share", "converged share", "",
            "The share of joins, leaves and crashes that all viewers follow before the next change "
            "of the same member, or before the end of the run.", "more", most=1.0),
     _read(lambda g: g.converged_share)),
)  # fmt: skip
NAMES = (*(metric.name for metric, _ in METRICS), *members.NAMES)
