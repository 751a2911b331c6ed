"""Figures 4 and 6: two walks that meet, and an overlay of ten initiators with its brokers."""

from halfway.bulk.walk_overlay.overlay import Overlays, WalkOverlay
from halfway.papers.walk_overlay.measurements import initiator_sets
from halfway.report.pictures.overlay_picture import overlay_svg
from halfway.world.graphs.unit_disk import connected_unit_disk

# The paper does not specify the instances that it shows; these have networks of its kind.
_N, _RADIUS, _SEED = 1000, 0.05, 2


def shown_overlay(count: int) -> WalkOverlay:
    """Return the overlay of `count` initiators that paper 2's picture shows."""
    network = connected_unit_disk(_N, _RADIUS, _SEED).network
    return Overlays(network).build(initiator_sets(_N, count, 1, _SEED)[0], seed=_SEED)


def picture(count: int) -> str:
    """Return the picture of a paper 2 overlay of `count` initiators as SVG; the same bytes each
    time.
    """
    overlay = shown_overlay(count)
    title = f"{count} initiators, {len(overlay.rows)} of {_N} nodes"
    if count == 2:
        title = f"{len(overlay.rows)} nodes until two walks meet"
    return overlay_svg(overlay, title=title)
