"""The result of `halfway walk`: one pair of walks, as a few lines or as one JSON object."""

import msgspec

from halfway.bulk.walks.walks import Meeting
from halfway.report.wording import count
from halfway.world.graphs.network import Network

_SHOWN = 12  # nodes of a path before its middle is left out


class WalkResult(msgspec.Struct, frozen=True):
    """The result of `halfway walk`, with the file's node ids; hops and steps are links walked."""

    network: str
    nodes: int
    links: int
    system: str
    interpretation: str  # where walks meet: "heard" or "stepped-on"
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
    interpretation: str,
    k: int,
    seed: int,
    picture: str | None = None,
) -> WalkResult:
    """Describe a meeting of two walks for the report of `halfway walk`, with the node ids of the
    network file.
    """
    met = meeting.node >= 0
    length = len(meeting.path) - 1 if met else None
    return WalkResult(
        network=network.name,
        nodes=network.n,
        links=network.links,
        system=system,
        interpretation=interpretation,
        k=k,
        seed=seed,
        source=network.label(int(meeting.trails[0][0])),
        target=network.label(int(meeting.trails[1][0])),
        steps=meeting.steps,
        steps_each=meeting.steps_each,
        meeting=network.label(meeting.node) if met else None,
        path=[network.label(int(row)) for row in meeting.path],
        path_hops=length,
        shortest_hops=shortest_hops,
        stretch=None if length is None else length / shortest_hops,
        picture=picture,
    )


def walked_json(pair: WalkResult) -> str:
    """Return the result of `halfway walk` as one JSON object on one line."""
    return msgspec.json.encode(pair).decode()


def lines(pair: WalkResult) -> list[str]:
    """Return the result of `halfway walk` for a terminal, a label and a value per line."""
    first, second = pair.steps_each
    rows = [
        ("network", f"{pair.network}: {count(pair.nodes, 'node')}, {count(pair.links, 'link')}"),
        ("walks", f"{pair.system}, {pair.interpretation}, 1 step to {pair.k}, seed {pair.seed}"),
        ("from", f"{pair.source} to {pair.target}"),
        ("steps", f"{pair.steps:,} ({first:,} + {second:,})"),
        ("meeting", pair.meeting or "none within the step limit"),
    ]
    shortest = count(pair.shortest_hops, "hop")
    if pair.path_hops is not None:
        hops = count(pair.path_hops, "hop")
        rows.append(("path", f"{hops}, loop-erased: {_shortened(pair.path)}"))
        shortest += f"; stretch {pair.stretch:.2f}"
    rows.append(("shortest", shortest))
    if pair.picture:
        rows.append(("picture", pair.picture))
    return [f"{word:<9}{text}" for word, text in rows]


def _shortened(path: list[str]) -> str:
    if len(path) > _SHOWN:
        path = [*path[: _SHOWN // 2], "…", *path[-_SHOWN // 2 :]]
    return " → ".join(path)
