"""One pair of walks told: in a few lines, or as one JSON object."""

from typing import TYPE_CHECKING

import msgspec
import numpy as np
import numpy.typing as npt

from halfway.report import wording

if TYPE_CHECKING:
    from halfway.bulk.walks.walks import Meeting
    from halfway.world.graphs.network import Network

_SHOWN = 12  # nodes of a path before its middle is left out


class Walked(msgspec.Struct, frozen=True):
    """What a pair of walks did, in the user's own ids; hops and steps are links walked."""

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
    stretch: float | None  # path hops for each hop of a shortest path
    picture: str | None = None


def walked(
    network: "Network",
    meeting: "Meeting",
    shortest_hops: int,
    *,
    system: str,
    reading: str,
    k: int,
    seed: int,
    picture: str | None = None,
) -> Walked:
    """Tell a meeting in the ids of the network's own file."""
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


def walked_json(told: Walked) -> str:
    """One JSON object on one line."""
    return msgspec.json.encode(told).decode()


def lines(told: Walked) -> list[str]:
    """The same for a reader: a word and what it stands for, line by line."""
    first, second = told.steps_each
    rows = [
        ("network", f"{told.network}: {told.nodes:,} nodes, {told.links:,} links"),
        ("walks", f"{told.system}, {told.reading}, 1 step to {told.k}, seed {told.seed}"),
        ("from", f"{told.source} to {told.target}"),
        ("steps", f"{told.steps:,} ({first:,} + {second:,})"),
        ("meeting", told.meeting or "none: the walks were stopped before they met"),
    ]
    if told.path_hops is not None and told.stretch is not None:
        rows += [
            ("path", f"{_hops(told.path_hops)}, loop-erased: {_shortened(told.path)}"),
            ("shortest", f"{_hops(told.shortest_hops)}; the path is {told.stretch:.2f} times that"),
        ]
    else:
        rows.append(("shortest", _hops(told.shortest_hops)))
    if told.picture:
        rows.append(("picture", told.picture))
    return [f"{word:<9}{text}" for word, text in rows]


def _labels(network: "Network", rows: npt.NDArray[np.int64]) -> list[str]:
    return [network.label(int(row)) for row in rows]


def _hops(number: int) -> str:
    return wording.count(number, "hop")


def _shortened(path: list[str]) -> str:
    if len(path) > _SHOWN:
        path = [*path[: _SHOWN // 2], "…", *path[-_SHOWN // 2 :]]
    return " → ".join(path)
