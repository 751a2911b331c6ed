"""Figure 4 of paper 1: a pair of directional walks, and the loop-erased path between them."""

from halfway.bulk.walks.walks import walk_pair
from halfway.report.pictures.network_picture import walk_svg
from halfway.world.graphs.unit_disk import kept_draw
from halfway.world.workload.pairs import distinct_pairs

# The paper shows one instance and does not define it. This picture has an instance on the same kind
# of network.
_N, _RADIUS, _SEED = 1500, 0.04, 17


def figure_4() -> str:
    """Return the picture of Figure 4 of directional walks as SVG; always the same bytes."""
    network = kept_draw(_N, _RADIUS, _SEED).network
    source, target = distinct_pairs(network.n, 1, _SEED)[0]
    meeting = walk_pair(network, int(source), int(target), seed=_SEED)
    return walk_svg(network, meeting, title=f"{meeting.steps} steps until the walks meet")
