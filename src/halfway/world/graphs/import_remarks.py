"""The remarks on the import of a network: what the reader of the file left out, with the counts and
a few names.
"""

from collections.abc import Mapping, Sequence

DIRECTIONS = "directions of links"
OUTSIDE = "nodes outside the largest component"
UNPLACED = "nodes without a position"
_SHOWN = 5
_SINGULAR = {
    "nodes": "node",
    "lines": "line",
    "links": "link",
    "loops": "loop",
    "directions": "direction",
}


def left_out_remarks(
    counts: Mapping[str, int], names: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """Return the sentences on the items that a network's reader left out, by kind."""
    dropped = [
        counted(kind, count) + listed(names.get(kind, ()))
        for kind, count in counts.items()
        if kind != UNPLACED
    ]
    remarks = [f"left out {', '.join(dropped)}"] if dropped else []
    if UNPLACED in counts:
        left_out = counted(UNPLACED, counts[UNPLACED]) + listed(names[UNPLACED])
        remarks.append(f"Halfway ignores all positions, because of {left_out}")
    return tuple(remarks)


def counted(kind: str, count: int) -> str:
    """Return a count of an imported network's items in words: "1 loop", "12 nodes outside ..."."""
    if count != 1:
        return f"{count:,} {kind}"
    first, space, rest = kind.partition(" ")
    if first == "repeated":
        first, rest = f"repeated {_SINGULAR[rest]}", ""
    return f"1 {_SINGULAR.get(first, first)}{space if rest else ''}{rest}"


def listed(names: Sequence[str]) -> str:
    """Return the first names of an imported network's nodes as " (a, b, …)", or "" without any."""
    more = ", …" if len(names) > _SHOWN else ""
    return f" ({', '.join(names[:_SHOWN])}{more})" if names else ""
