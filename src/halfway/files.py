"""Atomic writes of files: a temporary file in the same folder, then a rename."""

import os
from pathlib import Path

from halfway.problem import Problem


def write_whole(path: Path, content: str | bytes) -> None:
    """Write `content` (text as UTF-8) to `path`; a reader sees either the old or the new file.

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
        _forget(beside)
        raise Problem(
            f"could not be written: {(error.strerror or str(error)).lower()}",
            where=str(path),
            remedy="choose a writable folder with free space",
        ) from error
    except BaseException:
        _forget(beside)
        raise


def _forget(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError:
        return
