"""The replay of a live trace: the same records into the same handler give the same state."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from halfway.core.message import MESSAGE
from halfway.core.values.digest import arrays, state_digest
from halfway.files import check_regular
from halfway.live.limits import Limits
from halfway.live.link.neighbours import HelloTable
from halfway.live.step.stepper import Stepper
from halfway.live.systems.face import Setting
from halfway.live.systems.registry import face_of
from halfway.live.trace.recorder import AROUND, END, HEAD, MARK, PART, RECORDS, STATE, around_of
from halfway.problem import Problem

_MOST_PART = 1 << 30


class Replayed(NamedTuple):
    """The result of a replay."""

    node: str
    system: str
    records: int
    is_same: bool  # whether the state at the end is that of the live node


def replay(path: Path) -> Replayed:
    """Replay a trace. Raises Problem for a file that is not a trace, or that ends too early."""
    stepper, head, count = None, {}, 0
    for sort, content in _parts(path):
        if sort == HEAD:
            head = json.loads(content)
            stepper = _stepper(head)
        elif stepper is None:
            break
        elif sort == STATE:
            _fill(list(arrays(stepper.node.state)), content, path)
        elif sort == AROUND:
            _fill(around_of(stepper), content, path)
        elif sort == RECORDS:
            records = np.frombuffer(content, MESSAGE).view(np.recarray)
            for record in records:
                stepper.reenter(record)
            count += len(records)
        elif sort == END:
            same = state_digest(stepper.node.state) == json.loads(content)["digest"]
            return Replayed(head["node"], head["system"], count, same)
    what = "the trace ends too early"
    raise Problem(what, where=str(path), remedy="record it again: the node stopped meanwhile")


def _parts(path: Path) -> Iterator[tuple[bytes, bytes]]:
    check_regular(path)
    with path.open("rb") as file:
        if file.read(len(MARK)) != MARK:
            raise Problem("expected the trace of a live node", where=str(path))
        while len(head := file.read(PART.size)) == PART.size:
            sort, size = PART.unpack(head)
            content = file.read(min(size, _MOST_PART))
            if len(content) < size:
                return
            yield sort, content


def _stepper(head: dict[str, Any]) -> Stepper:
    limits = Limits(**head["limits"])
    setting = Setting(head["id"], head["key"], 0, limits)
    face = face_of(head["system"], head["options"], setting)
    table = HelloTable(head["id"], 0, limits.neighbours, limits.heard)
    stepper = Stepper(
        face.node, table.neighbourhood, node_id=head["id"], incarnation=head["incarnation"],
        hashes=np.zeros(limits.topics, np.uint64),
    )  # fmt: skip
    if stepper.is_stored():
        stepper.compile()
    return stepper


def _fill(targets: list[Any], content: bytes, path: Path) -> None:
    """Write the arrays of a part into the arrays of the node."""
    if sum(one.nbytes for one in targets) != len(content):
        raise Problem("the trace is of another version of the system", where=str(path))
    at = 0
    for one in targets:
        if one.nbytes:
            one[...] = np.frombuffer(content, one.dtype, one.size, at).reshape(one.shape)
        at += one.nbytes
