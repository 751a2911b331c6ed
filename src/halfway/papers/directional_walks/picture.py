"""Figure 4: one pair of directional walks, and the loop-erased path that their meeting gives."""

from halfway.bulk.walks.walks import walk_pair
from halfway.papers.directional_walks.measurements import drawn
from halfway.report.pictures.network_picture import walk_svg
from halfway.world.workload.pairs import distinct_pairs

# The paper shows one instance and does not say which; this one has its kind of network and a pair
# whose walks see something of it.
_N, _RADIUS, _SEED = 1500, 0.04, 17


def figure_4() -> str:
    """The picture as SVG; the same bytes each time."""
    network = drawn(_N, _RADIUS, _SEED).network
    source, target = distinct_pairs(network.n, 1, _SEED)[0]
    meeting = walk_pair(network, int(source), int(target), seed=_SEED)
    return walk_svg(network, meeting, title=f"{meeting.steps} steps until the walks meet")
