"""The declaration of paper 5: figures, scales, interpretations and plots."""

from halfway.papers.underlay_siena import claims, claims_network, points
from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Figure, Paper, Plot, Scale

UNDERLAY = (
    "underlay: 10,000 nodes by BRITE's incremental AS-level Waxman (m = 2, α 0.15, β 0.2, side "
    "1000 km), bandwidths uniform in 10…1024 Mb/s, delay = length / c; routes of fewest hops"
)
OVERLAY = (
    "overlay: 100 brokers on uniform nodes, joining in the order of drawing; interpretation "
    "*around*: the leg to the alternate avoids the direct path; Algorithm 1 as printed, and with "
    "both remedies of ours: a broker asks again for an alternate when its parent gains a child, "
    "and a second path may have no broker on it"
)
CLIENTS = (
    "content: 1,000 clients at uniform brokers, one filter each; *selective* takes one event in a "
    "hundred, *all* takes each event; events of 50 bytes from uniform clients at uniform times"
)
PATHS = (
    "paths: *tested* keeps the routers' own routes if they are disjoint by chance; with *around* "
    "the leg to the alternate avoids the direct path, with *free* both do; as printed: no remedies"
)
FAILURES = (
    "faults occur one after another, evenly over the run, and stay: uniform among all links, "
    "all nodes, the nodes and links *used* by direct paths, or the brokers; the root's node never "
    "fails; notifications for clients of a dead broker count as lost, unless the clients move"
)
REPAIR = (
    "*fails over only*: alternate and grandparent paths as they were built; *repairs*: a hundredth "
    "of the run after each fault the brokers join again, on the rest of the underlay; we add "
    "*clients move*: at each repair those of dead brokers attach to the nearest live one as well"
)
QUEUES = (
    "queues: first in, first out, one for each direction of each overlay link (delay the sum, "
    "bandwidth the least of its path), or of each link of the underlay; all events within 10 s, "
    "with nearly empty queues, or 0.1 s"
)
BALANCE = (
    "balance: *halves* takes the two paths in turn, *least-wait* the one whose first queue is "
    "shorter, *earliest* the one with the smaller sum of wait and unloaded travel; *least-wait* is "
    "idealised: no broker can read these queues, and brokers by messages choose other paths"
)
INTERVALS = (
    "95 % intervals: bootstrap over networks (overlay, clients and faults drawn again with each), "
    "Student's t with J - 1 degrees of freedom for J networks; systems paired by network"
)
NETWORK = (
    "network: each link of the underlay loses a message with a probability of 0.001 or 0.01, and "
    "nothing is sent again; in Figure 5 brokers notice a fault after 0.42 % of the run; in Figure "
    "6 each broker of the underlay-aware tree PINGs its parent on both paths once a second, and "
    "PINGs and answers have the size of an event; the unmodified tree sends no control messages"
)
OPEN = (
    "interpretations: the alternate is the neighbour with the fewest hops to it, not with the "
    "shortest leg around the direct path; neighbours are the ends of all overlay links, also "
    "those to alternates and grandparents; after τ a child asks its alternate before its "
    "grandparent; or brokers notice a fault by PINGs after 0.42 % of the run, 4.24 s if τ is 10 s, "
    "and lose what they send on a dead path before"
)
STEPS = (
    "steps of a join: the neighbours of the chosen broker that are asked for a path, and the hops "
    "of five messages: request, answer, and a registration at C, A and P; how a broker finds the "
    "nearest one is not counted, as in the paper"
)
REPLICATES: dict[Scale, int] = {"quick": 4, "paper": 20}  # [uas §5] "twenty simulation runs"
GROWTH: dict[Scale, int] = {"quick": 4, "paper": 10}  # of overlays of up to 400 brokers


def _curves(metric: str, x: str, panel: str, title: str, colour: str, **where: Scalar) -> Plot:
    return Plot("curves", metric, x, panel, x, title, colour=colour, where=where, statistic="mean")


def _by_remedy(
    metric: str, x: str, panel: str, title: str, colour: str, **where: Scalar
) -> tuple[Plot, ...]:
    """Return two plots of a paper 5 figure: of Algorithm 1 as printed, and with our remedies."""
    return tuple(
        _curves(metric, x, panel, f"{title}, {words}", colour, remedy=remedy, **where)
        for remedy, words in (("none", "as printed"), ("both", "with remedies"))
    )


def _rush_curves(metric: str, title: str) -> tuple[Plot, ...]:
    return _by_remedy(metric, "events", "interest", title, "balance")


PAPER = Paper(
    name="underlay-siena",
    title="Adding Underlay Aware Fault Tolerance to Hierarchical Event Broker Networks",
    authors="Madhu Kumar S. D., Umesh Bellur, Erusu Kranthi Kiran",
    year=2007,
    bounds={
        "delivered": (0.0, 100.0),
        **dict.fromkeys(
            ("premise", "guaranteed", "two links", *(f"level {k}" for k in range(4))), (0.0, 1.0)
        ),
    },
    figures=(
        Figure(
            "lemma", "Every single failure of a node or link but the root's node",
            points.lemma, REPLICATES, claims.judge_lemma, (UNDERLAY, OVERLAY, PATHS, INTERVALS),
        ),
        Figure(
            "figure-5", "Notifications delivered against the number of faults",
            points.figure_5, REPLICATES, claims.judge_figure_5,
            (UNDERLAY, OVERLAY, CLIENTS, FAILURES, REPAIR, INTERVALS),
            _by_remedy("delivered", "faults", "where", "notifications delivered (%)", "repair"),
        ),
        Figure(
            "figure-5-interpretations",
            "Figure 5 under other interpretations, with Algorithm 1 as printed",
            points.figure_5_interpretations, REPLICATES, claims.judge_interpretations,
            (UNDERLAY, OVERLAY, CLIENTS, FAILURES, OPEN, INTERVALS),
            (_curves("delivered", "faults", "where", "notifications delivered (%)", "open",
                     system="underlay-siena"),),
        ),
        Figure(
            "linear-time", "The work of Algorithm 1 against the number of brokers",
            points.growth, GROWTH, claims.judge_growth, (UNDERLAY, STEPS, INTERVALS),
        ),
        Figure(
            "figure-6", "Delivery latency against the number of events",
            points.figure_6, REPLICATES, claims.judge_figure_6,
            (UNDERLAY, OVERLAY, CLIENTS, QUEUES, BALANCE, INTERVALS),
            _by_remedy("latency", "events", "window_s", "mean latency of a notification (ms)",
                       "balance", interest="selective", queueing="overlay"),
        ),
        Figure(
            "figures-5-6-network",
            "Figures 5 and 6 where links lose messages and brokers send control messages",
            points.network, REPLICATES, claims_network.judge_network,
            (UNDERLAY, OVERLAY, CLIENTS, FAILURES, QUEUES, BALANCE, NETWORK, INTERVALS),
        ),
        Figure(
            "figure-7", "Average load of links against the number of events",
            points.figure_7, REPLICATES, claims.judge_figure_7,
            (UNDERLAY, OVERLAY, CLIENTS, QUEUES, BALANCE, INTERVALS),
            _rush_curves("carrying load", "load of a link that can carry (kB)"),
        ),
        Figure(
            "figure-8", "Standard deviation of the loads of links against the number of events",
            points.figure_7, REPLICATES, claims.judge_figure_8,
            (UNDERLAY, OVERLAY, CLIENTS, QUEUES, BALANCE, INTERVALS),
            _rush_curves("carrying deviation", "deviation of loads, links that can carry (kB)"),
        ),
    ),
)  # fmt: skip
