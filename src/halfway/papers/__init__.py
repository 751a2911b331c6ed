"""The declared papers: their published values, and the points of measurements that reproduce them.

The import of this package loads neither numba nor Spark, because `halfway list` imports it.
"""

from halfway.papers.directional_walks.experiments import PAPER as DIRECTIONAL_WALKS
from halfway.papers.drip.experiments import PAPER as DRIP
from halfway.papers.georendezvous.experiments import PAPER as GEORENDEZVOUS
from halfway.papers.underlay_siena.experiments import PAPER as UNDERLAY_SIENA
from halfway.papers.walk_overlay.experiments import PAPER as WALK_OVERLAY
from halfway.pipeline.reproduction.figures import Paper

PAPERS: dict[str, Paper] = {
    paper.name: paper
    for paper in (DIRECTIONAL_WALKS, WALK_OVERLAY, GEORENDEZVOUS, DRIP, UNDERLAY_SIENA)
}
