"""Draw the picture of each system's page: one event of a real run on a small field, as SVG.

    python -m tools.system_pictures [SYSTEM …]

writes docs/pictures/systems/SYSTEM.svg. All systems run on the same field of 140 nodes with one
publisher and six subscribers. The colours are classes, so that a page can set them; the style in
the file serves a browser that shows the file alone, bright or dark.
"""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfway.comparison.replay.replay import Replay, replay_of_scenario
from halfway.protocols import SYSTEMS
from halfway.scenario.reading import read_scenario

FOLDER = Path(__file__).parents[1] / "docs" / "pictures" / "systems"
SEED, EVENT = 11, 3  # of the field; the event whose way is drawn, the fourth
FIELD: dict[str, Any] = {
    "title": "field",
    "seconds": 40.0,
    "seed": SEED,
    "network": {"kind": "unit-disk", "n": 140, "degree": 17},
    "radio": {"kind": "ideal"},
    "workload": {
        "topics": 1, "publishers_each": 1, "subscribers_each": 6, "events": 5, "start_s": 15.0,
        "every_s": 4.0,
    },
    "options": {
        "rumor-routing": {"agent_steps": 25, "query_steps": 40},
        "drip": {"brokers": 5, "nearest": 2, "copies": 1},
        "siena": {"brokers": 8},
        "underlay-siena": {"brokers": 8},
    },
}  # fmt: skip
SIDE, EDGE, WIDE, HIGH = 400.0, 20.0, 680.0, 440.0
_STYLE = """<style>
.hw-ground{fill:#fff}.hw-text{fill:#1f2933}.hw-link{stroke:#d5dae1}.hw-node{fill:#98a2b3}
.hw-event{stroke:#c2410c;fill:none}.hw-walk{stroke:#1d4ed8;fill:none}
.hw-other{stroke:#0f766e;fill:none}.hw-from{fill:#c2410c}.hw-to{fill:#fff;stroke:#c2410c}
@media (prefers-color-scheme:dark){.hw-ground{fill:#14181f}.hw-text{fill:#e6e9ee}
.hw-link{stroke:#333b47}.hw-node{fill:#7b8794}.hw-event,.hw-to{stroke:#fb923c}
.hw-walk{stroke:#7aa2f7}.hw-other{stroke:#4fd1c5}.hw-from{fill:#fb923c}.hw-to{fill:#14181f}}
</style>"""
_MANY = 150  # steps of walks, which then are thin
_REGIONS = ("#2563eb", "#d97706", "#059669", "#9333ea", "#dc2626", "#0891b2", "#65a30d", "#be185d")


class Layer(NamedTuple):
    """One kind of line of a system's picture: its class, width, pairs of rows, and words of the
    legend.
    """

    name: str
    width: float
    pairs: list[tuple[int, int]]
    words: str
    dashed: bool = False


def main(names: list[str]) -> int:
    """Write the pictures of some systems."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in names:
        replay = replay_of_scenario(read_scenario(FIELD), name)
        (FOLDER / f"{name}.svg").write_text(drawn(replay), "utf-8")
    return 0


def drawn(replay: Replay) -> str:
    """Return the picture of a system's run as the text of an SVG file."""
    places = _places(replay)
    event = int(replay.world.publications["event"][EVENT])
    layers = [*_set_up(replay, event), _way(replay, event)]
    parts = [*_cells(replay), *_regions(replay, places, event)]
    links = [(a, b) for a, b in _links(replay) if a < b]
    parts.append(_lines(Layer("hw-link", 0.8, links, ""), places))
    parts += [_lines(layer, places) for layer in layers]
    parts += _nodes(replay, places, event)
    legend = [layer for layer in layers if layer.pairs]
    words = f"{replay.system}: one event of a run on a field of {len(places)} nodes"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDE:g} {HIGH:g}" role="img" '
        f'aria-label="{words}" font-family="system-ui, sans-serif" font-size="13">\n{_STYLE}\n'
        f'<rect class="hw-ground" width="{WIDE:g}" height="{HIGH:g}" rx="8"/>\n'
        + "\n".join([*parts, *_legend(legend, replay)])
        + "\n</svg>\n"
    )


def _places(replay: Replay) -> np.ndarray[Any, np.dtype[np.float64]]:
    """Return the places [n, 2] of the nodes on a system's picture; y points down."""
    given = np.asarray(replay.world.network.position, np.float64)
    low, extent = given.min(0), np.ptp(given, 0).max()
    scaled = (given - low) / extent * SIDE
    return np.column_stack([EDGE + scaled[:, 0], EDGE + SIDE - scaled[:, 1]])


def _links(replay: Replay) -> list[tuple[int, int]]:
    network = replay.world.network
    return [(a, int(b)) for a in range(network.n) for b in network.neighbours(a)]


def _way(replay: Replay, event: int) -> Layer:
    """Return the way of the event: each node and the node that it first received the event from."""
    reached = replay.tables["reached"]
    of = (reached["event"] == event) & (reached["source"] != reached["row"])
    pairs = _pairs(reached["source"][of], reached["row"][of])
    return Layer("hw-event", 1.8, pairs, "way of one event")


def _set_up(replay: Replay, event: int) -> list[Layer]:
    """Return the layers that the system made before the event: walks, links of the overlay."""
    published = replay.world.publications
    before = float(published["t"][published["event"] == event][0])
    layers = []
    steps = replay.tables["steps"]
    for k, words in enumerate(replay.labels):
        mine = (steps["label"] == k) & (steps["t"] <= before)
        name = ("hw-walk", "hw-other")[k % 2]
        pairs = _pairs(steps["source"][mine], steps["row"][mine])
        layers.append(Layer(name, 3.0 if len(pairs) < _MANY else 1.3, pairs, words))
    links = replay.tables["links"]
    made: dict[tuple[int, int], bool] = {}
    for t, a, b, on in zip(*(links[c].tolist() for c in ("t", "a", "b", "made")), strict=True):
        if t <= before:
            made[min(int(a), int(b)), max(int(a), int(b))] = bool(on)
    standing = [pair for pair, on in made.items() if on]
    layers.append(Layer("hw-other", 3.0, standing, "links of the overlay", dashed=True))
    return layers


def _pairs(sources: Any, rows: Any) -> list[tuple[int, int]]:
    both = zip(np.asarray(sources, int).tolist(), np.asarray(rows, int).tolist(), strict=True)
    return list(dict.fromkeys(both))


def _lines(layer: Layer, places: Any) -> str:
    """Return a layer of a system's picture as one path."""
    path = " ".join(
        f"M{places[a][0]:.1f} {places[a][1]:.1f}L{places[b][0]:.1f} {places[b][1]:.1f}"
        for a, b in layer.pairs
    )
    return f'<path class="{layer.name}" {_stroke(layer)} d="{path}"/>' if path else ""


def _stroke(layer: Layer) -> str:
    dash = ' stroke-dasharray="5 3"' if layer.dashed else ""
    fade = "" if layer.name == "hw-event" else ' opacity=".55"'
    return f'stroke-width="{layer.width:g}" stroke-linecap="round"{dash}{fade}'


def _nodes(replay: Replay, places: Any, event: int) -> list[str]:
    """Return all nodes of a system's picture; the publisher and the subscribers are larger."""
    published = replay.world.publications
    publisher = int(published["row"][published["event"] == event][0])
    subscribers = set(replay.world.subscriptions["row"].tolist()) - {publisher}
    plain = [k for k in range(len(places)) if k != publisher and k not in subscribers]
    dots = "".join(f"M{places[k][0]:.1f} {places[k][1]:.1f}h0" for k in plain)
    round_dot = 'stroke="#98a2b3" stroke-width="5" stroke-linecap="round"'
    parts = [f'<path class="hw-node" {round_dot} d="{dots}"/>']
    parts += [_subscriber(*places[k]) for k in sorted(subscribers)]
    return [*parts, _publisher(*places[publisher])]


def _publisher(x: float, y: float) -> str:
    return f'<rect class="hw-from" x="{x - 7:.1f}" y="{y - 7:.1f}" width="14" height="14" rx="2"/>'


def _subscriber(x: float, y: float) -> str:
    return f'<circle class="hw-to" cx="{x:.1f}" cy="{y:.1f}" r="6" stroke-width="2.5"/>'


def _regions(replay: Replay, places: Any, event: int) -> list[str]:
    """Return, for a system with regions, each node in the colour of the broker that it
    belongs to.
    """
    published = replay.world.publications
    before = float(published["t"][published["event"] == event][0])
    belongs = replay.tables["belongs"]
    broker = {}
    for t, row, of in zip(*(belongs[c].tolist() for c in ("t", "row", "broker")), strict=True):
        if t <= before:
            broker[int(row)] = int(of)
    known = sorted({of for of in broker.values() if of >= 0})
    found = []
    for row, of in sorted(broker.items()):
        if of >= 0:
            x, y = places[row]
            colour = _REGIONS[known.index(of) % len(_REGIONS)]
            size = 22 if row == of else 13
            found.append(
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size}" fill="{colour}" opacity=".3"/>'
            )
    return found


def _cells(replay: Replay) -> list[str]:
    """Return, for a system with cells, their borders and the home cells of the topic."""
    x0, y0, side = replay.cells
    if not side:
        return []
    given = np.asarray(replay.world.network.position, np.float64)
    low, scale = given.min(0), SIDE / np.ptp(given, 0).max()
    homes = {
        (int((given[row][0] - x0) // side), int((given[row][1] - y0) // side))
        for row in replay.tables["homes"]["row"].astype(int).tolist()
    }
    found = []
    for i, j in sorted(homes):
        x = EDGE + (x0 + i * side - low[0]) * scale
        y = EDGE + SIDE - (y0 + (j + 1) * side - low[1]) * scale
        found.append(
            f'<rect class="hw-other" x="{x:.1f}" y="{y:.1f}" width="{side * scale:.1f}" '
            f'height="{side * scale:.1f}" stroke-width="2.5"/>'
        )
    return found


def _legend(layers: list[Layer], replay: Replay) -> list[str]:
    """Return the signs on the right of a system's picture, and their words."""
    x, y, parts = EDGE + SIDE + 40, EDGE + 20, []

    def add(sign: str, words: str) -> None:
        nonlocal y
        parts.append(f'{sign}<text class="hw-text" x="{x + 34:g}" y="{y + 5:g}">{words}</text>')
        y += 28

    add(_publisher(x + 12, y), "publisher")
    add(_subscriber(x + 12, y), "subscriber")
    for layer in reversed(layers):
        line = f"M{x:g} {y:g}h24"
        add(f'<path class="{layer.name}" {_stroke(layer)} d="{line}"/>', layer.words)
    if replay.cells[2]:
        square = f'x="{x + 4:g}" y="{y - 8:g}" width="16" height="16" stroke-width="2.5"'
        add(f'<rect class="hw-other" {square}/>', "home cell of the topic")
    if len(replay.tables["belongs"]["row"]):
        for r, words in ((10, "broker of a region"), (6, "node of the region")):
            circle = f'cx="{x + 12:g}" cy="{y:g}" r="{r}" fill="{_REGIONS[0]}" opacity=".4"'
            add(f"<circle {circle}/>", words)
    return parts


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:] or list(SYSTEMS)))
