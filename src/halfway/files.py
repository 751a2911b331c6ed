"""Atomic writes of files: a temporary file in the same folder, then a rename."""

import os
from contextlib import suppress
from pathlib import Path

from halfway.problem import Problem


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
        what = f"could not be written: {(error.strerror or str(error)).lower()}"
        remedy = "choose a writable folder with free space"
        raise Problem(what, where=str(path), remedy=remedy) from error
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
