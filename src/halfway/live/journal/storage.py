"""The storage of a journal: the interface to a disk, and a folder that implements this
interface.
"""

import os
from pathlib import Path
from typing import Protocol

from halfway.problem import Problem

ENDING = ".journal"


class Storage(Protocol):
    """The interface of a journal's storage: named files that grow at their end; any method may
    raise OSError.

    Bytes are safe from a loss of power only after `sync`. A failed `append` may have written some
    bytes.
    """

    def names(self) -> list[str]:
        """Return the names of the segments in a journal's storage, ascending."""
        ...

    def read(self, name: str) -> bytes:
        """Return the whole content of a segment in a journal's storage."""
        ...

    def append(self, name: str, data: bytes) -> None:
        """Append bytes to a segment in a journal's storage; an unknown name begins an empty
        segment.
        """
        ...

    def sync(self, name: str) -> None:
        """Make the content and the name of a segment in a journal's storage safe on disk."""
        ...

    def truncate(self, name: str, size: int) -> None:
        """Cut a segment in a journal's storage to its first `size` bytes, safely on disk."""
        ...

    def remove(self, name: str) -> None:
        """Remove a segment from a journal's storage."""
        ...


class FolderStorage:
    """The storage of a journal in the `.journal` files of a folder; one process uses it at
    a time.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: tuple[str, int] | None = None  # the file of the last append
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            what = f"the folder cannot be made: {(error.strerror or str(error)).lower()}"
            raise Problem(what, where=str(folder), remedy="choose another state folder") from error

    def names(self) -> list[str]:
        """Return the names of the folder's journal files, ascending."""
        return sorted(path.name for path in self._folder.glob(f"*{ENDING}"))

    def read(self, name: str) -> bytes:
        """Return the whole content of a journal file."""
        return (self._folder / name).read_bytes()

    def append(self, name: str, data: bytes) -> None:
        """Append bytes to a journal file; an unknown name begins an empty file."""
        descriptor, rest = self._descriptor(name), memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]

    def sync(self, name: str) -> None:
        """Sync a journal file, and the folder if the file is new."""
        _sync_data(self._descriptor(name))

    def truncate(self, name: str, size: int) -> None:
        """Cut a journal file to its first `size` bytes, and sync it."""
        descriptor = self._descriptor(name)
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)

    def remove(self, name: str) -> None:
        """Remove a journal file."""
        if self._open and self._open[0] == name:
            self.close()
        (self._folder / name).unlink(missing_ok=True)
        self._sync_folder()

    def close(self) -> None:
        """Close the open journal file."""
        if self._open:
            os.close(self._open[1])
            self._open = None

    def _descriptor(self, name: str) -> int:
        if self._open and self._open[0] == name:
            return self._open[1]
        self.close()
        path = self._folder / name
        is_new = not path.exists()
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._open = (name, descriptor)
        if is_new:
            self._sync_folder()
        return descriptor

    def _sync_folder(self) -> None:
        descriptor = os.open(self._folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


# macOS has no fdatasync; there fsync takes its place.
_sync_data = getattr(os, "fdatasync", os.fsync)
