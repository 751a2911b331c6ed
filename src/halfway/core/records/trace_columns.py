"""The columns of a trace: one Arrow schema for the records of simulated nodes and of live nodes."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from halfway.core.message import RECORD

# The meaning of a row in a trace: a record that a node received, reported or dropped, or a change
# of a node or a link.
_CHANGES = ("node down", "node up", "link down", "link up", "link gone", "link near",
            "forgotten", "known", "paused", "resumed", "attacks", "honest")  # fmt: skip
WHAT = ("received", "reported", *_CHANGES, "dropped")
_ATTACKS = 10  # the change of a node that attacks; even numbers above are other attacks
REPORTED, DROPPED = WHAT.index("reported"), WHAT.index("dropped")
PLAIN = (RECORD.names or ())[:-2]  # fields of the header


def what_of(change: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the places in WHAT, for a trace, of changes by their kinds."""
    attack = np.where(change >= _ATTACKS, _ATTACKS + change % 2, change)
    return np.asarray(attack + WHAT.index(_CHANGES[0]), np.uint8)


def schema() -> Any:
    """Return the columns of a simulated trace as an Arrow schema: one row for each record and each
    change.
    """
    import pyarrow as pa

    words = pa.dictionary(pa.int8(), pa.string())
    return pa.schema(
        [
            ("at", pa.float64()),  # seconds
            ("what", words),  # an entry of WHAT
            ("row", pa.int32()),  # row of the receiver, of the application, or of the change
            ("node", pa.dictionary(pa.int32(), pa.string())),  # the user's name of `row`
            ("source_node", pa.dictionary(pa.int32(), pa.string())),  # of `source`; null for none
            ("name", pa.dictionary(pa.int16(), pa.string())),  # name of the kind
            # `source`: sender; or the other end of a link that changed
            *((name, pa.from_numpy_dtype(RECORD[name])) for name in PLAIN[1:]),
            ("args", pa.list_(pa.int32(), 8)),
            ("reals", pa.list_(pa.float64(), 6)),
        ]
    )


def table_of(
    what: npt.NDArray[np.uint8],
    row: npt.NDArray[np.int64],
    records: npt.NDArray[np.void],
    kinds: list[str],
    names: Any,
) -> Any:
    """Return rows of a simulated trace as an Arrow table with these columns.

    what: [rows] places in WHAT. row: [rows] rows of the nodes. records: [rows] RECORD. kinds:
    names of the record kinds by number. names: names of the nodes by row, an Arrow array.
    """
    import pyarrow as pa

    named = records["kind"].astype(np.int16)
    plain = {name: pa.array(np.ascontiguousarray(records[name])) for name in PLAIN}
    columns = {
        **plain,
        "what": pa.DictionaryArray.from_arrays(pa.array(what.astype(np.int8)), list(WHAT)),
        "row": pa.array(row.astype(np.int32)),
        "node": _named(row, names),
        "source_node": _named(records["source"], names),
        "name": pa.DictionaryArray.from_arrays(pa.array(named, mask=what > 1), kinds),
    }
    for name, width in (("args", 8), ("reals", 6)):
        flat = pa.array(np.ascontiguousarray(records[name]).ravel())
        columns[name] = pa.FixedSizeListArray.from_arrays(flat, width)
    wanted = schema()
    return pa.table([columns[name] for name in wanted.names], schema=wanted)


def live_schema() -> Any:
    """Return the columns of a live node's trace as an Arrow schema: those of a simulated trace, and
    three columns of clocks.
    """
    import pyarrow as pa

    more = [
        ("boot", pa.uint32()),  # the incarnation of the node
        ("wall", pa.timestamp("us", tz="UTC")),  # time by the clock of the node's machine
        ("hlc", pa.int64()),  # hybrid logical clock: after all that the node had heard
    ]
    return pa.schema([*schema(), *(pa.field(name, column_type) for name, column_type in more)])


def live_table(
    what: npt.NDArray[np.uint8], records: npt.NDArray[np.void],
    stamps: Sequence[tuple[float, int]], drops: Mapping[str, int], *,
    node: tuple[int, str, int], kinds: Mapping[int, str], names: Mapping[int, str],
    now: tuple[float, float, int],
) -> Any:  # fmt: skip
    """Return rows of a live node as an Arrow table in the columns of a trace: records, then drops.

    stamps: [rows] wall clock and hybrid logical clock. node: id, name and boot. names: names of
    other nodes, by id. now: clock of the node, wall clock and hybrid logical clock at the drops.
    """
    import pyarrow as pa

    reasons = sorted(drops)
    dropped = np.zeros(len(reasons), RECORD)
    dropped["at"], dropped["source"] = now[0], -1
    for field in ("target", "next", "topic", "event", "publisher"):
        dropped[field] = -1
    dropped["args"][:, 0] = [drops[reason] for reason in reasons]
    whole = np.concatenate((records, dropped))
    count = len(whole)
    known = [kinds.get(int(kind), f"kind {kind}") for kind in records["kind"]]
    plain = {name: pa.array(np.ascontiguousarray(whole[name])) for name in PLAIN}
    marks = [WHAT[k] for k in what.tolist()] + [WHAT[DROPPED]] * len(reasons)
    clocks = [*stamps, *[now[1:]] * len(reasons)]
    columns = {
        **plain,
        "what": marks,
        "row": np.full(count, node[0], np.int32),
        "node": [node[1]] * count,
        "source_node": [{node[0]: node[1], **names}.get(int(source)) for source in whole["source"]],
        "name": known + reasons,
        "args": list(whole["args"]),
        "reals": list(whole["reals"]),
        "boot": np.full(count, node[2], np.uint32),
        "wall": [round(wall * 1e6) for wall, _ in clocks],
        "hlc": [hlc for _, hlc in clocks],
    }
    wanted = live_schema()
    return pa.table([pa.array(columns[to.name]).cast(to.type) for to in wanted], schema=wanted)


def _named(row: npt.NDArray[Any], names: Any) -> Any:
    """Return a trace's column of rows as node names; numbers that are not a row become null."""
    import pyarrow as pa

    unknown = (row < 0) | (row >= len(names))
    return pa.DictionaryArray.from_arrays(pa.array(row.astype(np.int32), mask=unknown), names)
