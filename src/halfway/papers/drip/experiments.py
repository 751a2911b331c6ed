"""Paper 4, declared: the points of each figure, their scales and readings."""

from halfway.papers.drip import claims_analysis
from halfway.pipeline.run import Point
from halfway.pipeline.study import Figure, Paper, Scale

WAITS = "halfway.papers.drip.analysis:waits"
MEETINGS = "halfway.papers.drip.analysis:grid_meetings"

INTERVALS = (
    "95 % intervals: bootstrap over networks (what happens on one network is not independent), "
    "Student's t with one degree less than there are networks"
)
EQUATION = (
    "λ = 1: times in units of 1/λ; equation (1) is taken as the paper states it, and only what is "
    "derived from it is judged; (l² + 3l)/4 is its second-order cut with one sign turned"
)


def _analysis(scale: Scale) -> list[Point]:
    draws = 20_000 if scale == "paper" else 5_000
    means = [
        Point(WAITS, {"destinations": last, "copies": m, "draws": draws}, ("draws",), 20.0)
        for last in claims_analysis.DESTINATIONS
        for m in claims_analysis.COPIES
    ]
    pairs = 1000 if scale == "paper" else 300
    return means + [
        Point(MEETINGS, {"grid": n, "brokers": k, "draws": pairs}, ("grid",), 0.2 * n)
        for n in claims_analysis.GRIDS
        for k in claims_analysis.BROKERS
    ]


PAPER = Paper(
    name="drip",
    title="DRIP: A Dynamic VoRonoi RegIons-Based Publish/Subscribe Protocol in Mobile Networks",
    authors="Quan Yuan, Jie Wu",
    year=2009,
    figures=(
        Figure(
            "section-5c",
            "The analytical study: time until all destinations have a copy, and until regions meet",
            _analysis,
            {"quick": 8, "paper": 20},
            claims_analysis.judge_analysis,
            (EQUATION, INTERVALS),
        ),
    ),
)
