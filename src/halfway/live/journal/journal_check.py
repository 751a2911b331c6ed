"""The check of a journal folder by `halfway journal`, which changes no file."""

from pathlib import Path
from typing import NamedTuple

from halfway.live.journal.segment import scanned
from halfway.live.journal.storage import ENDING
from halfway.problem import Problem


class CheckedSegment(NamedTuple):
    """The result of a journal check in one segment."""

    segment: str
    records: int
    bytes: int
    bad: list[str]  # places and reasons
    torn_bytes: int  # bytes at the end, of a record that was not acknowledged
    replaced: bool  # a later snapshot has its content


def check_segments(folder: Path) -> list[CheckedSegment]:
    """Check every journal segment in a folder, in order. Raises Problem if there is no journal."""
    if not folder.is_dir():
        remedy = "name the folder `journal` in the state of a node"
        raise Problem("expected the folder of a journal", where=str(folder), remedy=remedy)
    paths = sorted(folder.glob(f"*{ENDING}"))
    if not paths:
        remedy = "name the journal of a node that has already kept an event"
        raise Problem(f"no segment *{ENDING} is in this folder", where=str(folder), remedy=remedy)
    segments, replaced = list[CheckedSegment](), False
    for path in reversed(paths):
        data = path.read_bytes()
        scan = scanned(data)
        torn, bad = len(data) - scan.end, scan.bad
        if torn and path != paths[-1]:  # later segments were written: this is not a torn tail
            bad, torn = [*bad, f"byte {scan.end}: {torn} bytes are damaged"], 0
        segments.append(
            CheckedSegment(path.name, len(scan.records), len(data), bad, torn, replaced)
        )
        replaced = replaced or scan.is_complete_snapshot
    return segments[::-1]
