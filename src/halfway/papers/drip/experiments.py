"""Paper 4 (DRIP): the declaration of each figure, with its scales and interpretations."""

from halfway.papers.drip import (
    claims,
    claims_analysis,
    claims_interpretations,
    claims_packets,
    claims_pairs,
    points,
)
from halfway.pipeline.reproduction.figures import Figure, Paper, Plot, Scale

INTERVALS = (
    "95 % intervals: bootstrap over networks (what happens on one network is not independent), "
    "Student's t with one degree of freedom less than networks"
)
EQUATION = (
    "λ = 1: times in units of 1/λ; equation (1) is taken as the paper states it, and only what is "
    "derived from it is judged; (l² + 3l)/4 is its second-order truncation with one sign inverted"
)
ENVIRONMENT = (
    "200 nodes in 1,000 m x 1,000 m, range 120 m, random waypoint from its stationary state, 10-20 "
    "m/s, pauses 2-4 s; events by a Poisson process of 0.8 a second, from 20 s until 60 s before "
    "the end; every system and m meets the same motion, events and phases"
)
LOAD = (
    "here 2.4 events occur a second instead of 0.8, and a share of 0.1 of the nodes subscribes "
    "instead of 0.5"
)
CAPABILITIES = (
    "capabilities are 1/rank for a random ranking; one node detects an event, drawn by capability; "
    "the k most capable nodes of the network are the candidates, unless each component elects; "
    "shares are of all brokers"
)
BY_COMPONENT = (
    "where each component elects, all nodes are candidates: each component of the initial network "
    "elects k brokers, so there are more than k"
)
PARALLEL = (
    "a broker may meet several at a time; beacons and reports every 2 s, subscriptions to the same "
    "broker every 10 s; nodes know their neighbours without delay; a record without a next hop is "
    "deferred by 0.5 s, at most 20 times"
)
CONTENTION = (
    "contended radio: CSMA/CA with 802.11a timing at 12 Mb/s; all records are transmitted, "
    "including beacons, reports and subscriptions; nodes know their neighbours one second late"
)
AXES = "the text lacks the figures' curves: k = 10 to 40 and m = 1, 2, 4 are our choice"
SF = "SF: the same protocol, but every broker gets every event; nothing else differs"
FEW = (
    "limited contacts (our interpretation): a broker transfers one event to one other broker, then "
    "none for 5 s, or 1 or 20 s; beacons, reports and subscriptions are not limited; an event has "
    "one subscriber on average if a share of 0.1 of the nodes subscribes, and five with the "
    "paper's 0.5"
)
OTHERWISE = (
    "interpretations, one at a time: a hop takes 1 ms for 120 m; a bridge node carries records "
    "between its two nearest brokers only; a source gives copies to its m relays only; each node "
    "detects an event with its ability 1/rank as probability, so that 5.9 nodes detect it on "
    "average, and the first copy at a broker or a subscriber counts"
)

REPLICATES: dict[Scale, int] = {"quick": 4, "paper": 8}


def _curves(metric: str, title: str, colour: str | None = "m") -> tuple[Plot, ...]:
    """Return a plot of DRIP's experiments: means of a metric over k, with one panel per system."""
    return (Plot("curves", metric, "k", "system", "brokers k", title, colour, statistic="mean"),)


PAPER = Paper(
    name="drip",
    title="DRIP: A Dynamic VoRonoi RegIons-Based Publish/Subscribe Protocol in Mobile Networks",
    authors="Quan Yuan, Jie Wu",
    year=2009,
    bounds=dict.fromkeys(("coverage", "union", "local", "delivered"), (0.0, 1.0)),
    figures=(
        Figure(
            "figure-3a", "Broker coverage against the number of brokers",
            points.figure_3a, REPLICATES, claims.judge_coverage,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, AXES, INTERVALS),
            _curves("coverage", "share with a copy"),
        ),
        Figure(
            "figure-3b", "Delivery delay against the number of brokers, compared with an epidemic",
            points.figure_3b, REPLICATES, claims.judge_delay,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, SF, AXES, INTERVALS),
            _curves("waited", "seconds, lost events 60"),
        ),
        Figure(
            "figure-3b-pairs", "Delivery delay pair by pair: SF and four copies against one copy",
            points.pairs, {"quick": 4, "paper": 12}, claims_pairs.judge_pairs,
            (ENVIRONMENT, CAPABILITIES, BY_COMPONENT, PARALLEL, SF, INTERVALS),
        ),
        Figure(
            "figure-4", "Delivery delay by the choice of brokers",
            points.figure_4, REPLICATES, claims.judge_selection,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, AXES, INTERVALS),
            _curves("waited", "seconds, lost events 60", colour=None),
        ),
        Figure(
            "components", "Figure 3 where each component elects its own brokers",
            points.by_component, REPLICATES, claims.judge_components,
            (ENVIRONMENT, CAPABILITIES, BY_COMPONENT, PARALLEL, SF, AXES, INTERVALS),
        ),
        Figure(
            "figures-802.11", "Figures 3 and 4 where nodes contend for the medium",
            points.wifi, REPLICATES, claims.judge_wifi,
            (ENVIRONMENT, CAPABILITIES, CONTENTION, SF, AXES, INTERVALS),
            _curves("waited", "seconds, lost events 60"),
        ),
        Figure(
            "interpretations", "Figures 3 and 4 under other interpretations of single sentences",
            points.interpretations, {"quick": 3, "paper": 8},
            claims_interpretations.judge_interpretations,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, OTHERWISE, SF, AXES, INTERVALS),
        ),
        Figure(
            "limited",
            "Delivery delay compared with an epidemic where a broker transfers one event at a time",
            points.limited,
            {"quick": 4, "paper": 10},
            claims.judge_limited, (ENVIRONMENT, CAPABILITIES, FEW, SF, INTERVALS),
        ),
        Figure(
            "contended",
            "Figures 3(b) and 4 where nodes contend for the medium, at another load",
            points.contended, {"quick": 4, "paper": 8}, claims.judge_contended,
            (ENVIRONMENT, LOAD, CAPABILITIES, CONTENTION, SF, INTERVALS),
        ),
        Figure(
            "packets", "The packets of DRIP: bytes by kind, beacons, and events at their broker",
            points.packets, REPLICATES, claims_packets.judge_packets,
            (ENVIRONMENT, CAPABILITIES, PARALLEL, SF, INTERVALS),
        ),
        Figure(
            "section-5c",
            "The analytical study: time until all destinations have a copy, and until regions meet",
            points.analysis, {"quick": 8, "paper": 20}, claims_analysis.judge_analysis,
            (EQUATION, INTERVALS),
        ),
    ),
)  # fmt: skip
