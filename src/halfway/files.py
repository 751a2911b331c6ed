"""Reads of limited files, and atomic writes: a file in the same folder, then a rename."""

import os
import stat
from contextlib import suppress
from pathlib import Path

from halfway.problem import Problem, reason_of


def check_regular(path: Path) -> None:
    """Check that a path names a regular file. Files such as a device or a FIFO can give bytes
    without end, or none.

    Raises Problem for anything else, and OSError for a path that does not exist.
    """
    mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise Problem("this is a directory: expected a file", where=str(path))
    if not stat.S_ISREG(mode):
        what = "this is a device or a pipe: expected a regular file"
        raise Problem(what, where=str(path), remedy="write the content to a file first")


def read_limited(path: Path, most: int) -> bytes:
    """Read the bytes of a regular file; Problem for another kind of file, or over `most` bytes.

    Raises OSError for a file that cannot be read.
    """
    check_regular(path)
    with path.open("rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise Problem(
            f"the file is too large: expected at most {most / 1e6:,.0f} MB", where=str(path)
        )
    return data


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file atomically (text as UTF-8); a reader sees either the old or the new content.

    Raises Problem if the write fails (full disk, unwritable folder); the old file is kept.
    """
    data = content.encode() if isinstance(content, str) else content
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with beside.open("wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    except OSError as error:
        what = f"could not be written: {reason_of(error)}"
        remedy = "choose a writable folder with free space"
        raise Problem(what, where=str(path), remedy=remedy) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
