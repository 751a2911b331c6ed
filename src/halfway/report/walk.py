"""The result of `halfway walk`: one pair of walks, as a few lines or as one JSON object."""

import msgspec
import numpy as np
import numpy.typing as npt

from halfway.bulk.walks.walks import Meeting
from halfway.report import wording
from halfway.world.graphs.network import Network

_SHOWN = 12  # nodes of a path before its middle is left out


class Walked(msgspec.Struct, frozen=True):
    """A pair of walks, with the node ids of the network's file; hops and steps are links walked."""

    network: str
    nodes: int
    links: int
    system: str
    reading: str
    k: int
    seed: int
    source: str
    target: str
    steps: int
    steps_each: tuple[int, int]
    meeting: str | None  # None: they did not meet within the limit
    path: list[str]  # loop-erased, source … meeting … target
    path_hops: int | None
    shortest_hops: int
    stretch: float | None  # path hops over those of a shortest path
    picture: str | None = None


def walked(
    network: Network,
    meeting: Meeting,
    shortest_hops: int,
    *,
    system: str,
    reading: str,
    k: int,
    seed: int,
    picture: str | None = None,
) -> Walked:
    """Describe a meeting of two walks with the node ids of the network's file."""
    met = meeting.node >= 0
    length = len(meeting.path) - 1 if met else None
    return Walked(
        network=network.name,
        nodes=network.n,
        links=network.links,
        system=system,
        reading=reading,
        k=k,
        seed=seed,
        source=network.label(int(meeting.trails[0][0])),
        target=network.label(int(meeting.trails[1][0])),
        steps=meeting.steps,
        steps_each=meeting.steps_each,
        meeting=network.label(meeting.node) if met else None,
        path=_labels(network, meeting.path),
        path_hops=length,
        shortest_hops=shortest_hops,
        stretch=None if length is None else length / shortest_hops,
        picture=picture,
    )


def walked_json(pair: Walked) -> str:
    """One JSON object on one line."""
    return msgspec.json.encode(pair).decode()


def lines(pair: Walked) -> list[str]:
    """A label and a value per line, for a terminal."""
    first, second = pair.steps_each
    rows = [
        ("network", f"{pair.network}: {pair.nodes:,} nodes, {pair.links:,} links"),
        ("walks", f"{pair.system}, {pair.reading}, 1 step to {pair.k}, seed {pair.seed}"),
        ("from", f"{pair.source} to {pair.target}"),
        ("steps", f"{pair.steps:,} ({first:,} + {second:,})"),
        ("meeting", pair.meeting or "none within the step limit"),
    ]
    if pair.path_hops is not None and pair.stretch is not None:
        rows += [
            ("path", f"{_hops(pair.path_hops)}, loop-erased: {_shortened(pair.path)}"),
            ("shortest", f"{_hops(pair.shortest_hops)}; stretch {pair.stretch:.2f}"),
        ]
    else:
        rows.append(("shortest", _hops(pair.shortest_hops)))
    if pair.picture:
        rows.append(("picture", pair.picture))
    return [f"{word:<9}{text}" for word, text in rows]


def _labels(network: Network, rows: npt.NDArray[np.int64]) -> list[str]:
    return [network.label(int(row)) for row in rows]


def _hops(number: int) -> str:
    return wording.count(number, "hop")


def _shortened(path: list[str]) -> str:
    if len(path) > _SHOWN:
        path = [*path[: _SHOWN // 2], "…", *path[-_SHOWN // 2 :]]
    return " → ".join(path)
