"""The parts of a recording of a live node: head, state, surroundings, records, and end.

`halfway record` writes them into one file. A trace folder has the records in Parquet files, and
beside each of them a hidden file with the other parts, compressed.
"""

import json
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy.typing as npt

from halfway.core.values.digest import arrays, short_digest
from halfway.live.runtime.mesh_node import MeshNode
from halfway.live.step.node_stepper import Stepper

MARK = b"halfway live trace 1\n"
PART = struct.Struct("<4sI")  # type, bytes
HEAD, STATE, RECORDS, AROUND, END = b"head", b"stat", b"reco", b"arou", b"end "
ROWS = b"rows"  # instead of RECORDS: number of received rows in the Parquet file
_MOST_PART = 1 << 30


def head_of(node: MeshNode) -> dict[str, Any]:
    """Return the head, the part of a recording from which a replay makes the handler of the node
    again.
    """
    return {
        "system": node.identity.system,
        "options": node.face.values,
        "node": node.name,
        "id": node.node_id,
        "incarnation": node.identity.incarnation,
        "limits": node.limits._asdict(),
        "key": node.face.parameters.key,
        "position": node.links.table.position,
        "role": node.face.parameters.role,
        "at": node.scheduler.now(),
    }


def around_of(stepper: Stepper) -> list[npt.NDArray[Any]]:
    """Return the surroundings, the part of a recording with the arrays that a handler only reads:
    neighbourhood and catalogue.
    """
    return [*arrays(stepper.neighbourhood), *arrays(stepper.node.rules)]


def part_bytes(part_type: bytes, content: bytes) -> bytes:
    """Return a part of a recording in the form of a file."""
    return PART.pack(part_type, len(content)) + content


def parts_in(content: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Yield the parts of a recording's file after its mark, up to an incomplete part."""
    at = len(MARK)
    while at + PART.size <= len(content):
        part_type, size = PART.unpack_from(content, at)
        at += PART.size
        if at + size > len(content):
            return
        yield part_type, content[at : at + size]
        at += size


def state_file(
    head: dict[str, Any], before: bytes, parts: Sequence[tuple[bytes, bytes]], behind: bytes
) -> bytes:
    """Return the content of the hidden file beside a recording's Parquet file.

    before, behind: the bytes of the state at the beginning and at the end of the file.
    """
    end = {"digest": short_digest(behind)}
    whole = [(HEAD, json.dumps(head).encode()), (STATE, before), *parts]
    whole.append((END, json.dumps(end).encode()))
    return zlib.compress(MARK + b"".join(part_bytes(*part) for part in whole), 1)


def opened_state_file(content: bytes) -> bytes:
    """Return the parts of a recording from the hidden state file of a trace folder.

    Raises ValueError for bytes without the mark.
    """
    try:
        opened = zlib.decompressobj().decompress(content, _MOST_PART)
    except zlib.error:
        raise ValueError("damaged") from None
    if not opened.startswith(MARK):
        raise ValueError("another form")
    return opened


def beside(path: Path) -> Path:
    """Return the path of the hidden file with the other parts of a recording, beside the Parquet
    file.
    """
    return path.with_name(f".{path.stem}.state")
