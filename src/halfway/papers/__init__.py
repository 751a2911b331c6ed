"""The papers, declared: what each printed, and which points of which measurement answer it.

Importing this costs no compiler and no Spark; `halfway list` does it.
"""

from halfway.papers.directional_walks.experiments import PAPER as DIRECTIONAL_WALKS
from halfway.papers.drip.experiments import PAPER as DRIP
from halfway.pipeline.study import Paper

PAPERS: dict[str, Paper] = {paper.name: paper for paper in (DIRECTIONAL_WALKS, DRIP)}
