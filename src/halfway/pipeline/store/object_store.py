"""Output folders in an object store (S3): a working copy on this machine, published batch by batch.

    s3://bucket/folder/runs/batches/00001/…   as on a disk; `_SUCCESS` is written last
    s3://bucket/folder/writers/<id>.json      a lease of each writer, renewed while it lives

A command works on the copy, and a thread publishes each finished batch. A batch in the store counts
if its `_SUCCESS` is there. `docs/decisions/0053` has the reasons.
"""

import contextlib
import hashlib
import json
import os
import re
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path

from pyarrow import fs

from halfway.files import write_whole
from halfway.pipeline.store.background_thread import in_background
from halfway.pipeline.store.lease import WRITERS, Lease, store_errors
from halfway.pipeline.store.manifest import NAME
from halfway.problem import Problem

_URL = re.compile(r"s3:/+(?P<rest>.+)")
_POLL_S = 0.5
_MARK, _BATCHES = "_SUCCESS", "runs/batches"
_FOLDER_MARK = "runs/manifest.json"
_RECORD = ".published.json"
_PRIVATE = re.compile(r"(^|/)(lock|\.[^/]*)$")  # files of the working copy alone
_MOST_OTHERS = 3
Version = tuple[int, int]  # bytes, and time of the last change in ns


def object_url(out: Path | str) -> str | None:
    """Return the URL of an output folder in an object store, or None for a folder of this
    machine.
    """
    found = _URL.fullmatch(str(out))  # a path has lost the second slash
    return f"s3://{found['rest'].rstrip('/')}" if found else None


@contextlib.contextmanager
def output_folder(out: Path | str) -> Iterator[Path]:
    """Return an output folder to write to: `out` itself, or the working copy of an object store's.

    At the end of the block, also after an error, everything new is published. Raises Problem if
    another writer is alive, if the folder has other files and no results, or if the store does not
    answer; what is not published yet stays in the working copy, for the next command.
    """
    url = object_url(out)
    if url is None:
        yield Path(out)
        return
    copy = WorkingCopy(url, "write")
    with copy.lease.held():
        copy.fetch()
        copy.upload()  # batches that an earlier command could not publish
        with copy.publishing():
            yield copy.folder


@contextlib.contextmanager
def finished_folder(out: Path | str) -> Iterator[Path]:
    """Return an output folder to read: `out` itself, or a copy of one in an object store.

    Raises Problem if the object store does not answer, or has no such folder.
    """
    url = object_url(out)
    if url is None:
        yield Path(out)
        return
    copy = WorkingCopy(url, "read")
    if not copy.fetch():
        raise Problem("there is no such folder: expected a folder with results", where=url)
    yield copy.folder


def shown(out: Path | str, folder: Path, file: Path) -> str:
    """Return where a user finds a file of an output folder: its path, or its URL in an object
    store.

    folder: what `output_folder` or `finished_folder` gave for `out`.
    """
    url = object_url(out)
    return str(file) if url is None else f"{url}/{file.relative_to(folder).as_posix()}"


class WorkingCopy:
    """The working copy of an output folder in an object store. `purpose`: "read" or "write"."""

    def __init__(self, url: str, purpose: str) -> None:
        self.url = url
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        name = hashlib.sha256(
            f"{url} {os.environ.get('AWS_ENDPOINT_URL', '')}".encode()
        ).hexdigest()
        self.folder = cache / "halfway-object-stores" / f"{name[:16]}-{purpose}"
        with store_errors(self.url, "open"):
            self._remote, self._root = fs.FileSystem.from_uri(url)
        self.lease = Lease(url, self._remote, self._root)
        self._published: dict[str, Version] = {}

    def fetch(self) -> int:
        """Update the working copy from the object store, deletions included; return its number of
        files.

        Unfinished batches are left out. A batch of the copy that was never published stays, under
        a new number if the store has another batch of its number.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with store_errors(self.url, "read"):
            remote = self._listed("")
            self._check_ours(remote)
            wanted = {name: size for name, size in remote.items() if _counts(name, remote)}
            self._keep_unpublished(wanted)
            for name, size in sorted(wanted.items(), key=lambda item: _order(item[0])):
                if not (name.startswith(_BATCHES) and _has(self.folder / name, size)):
                    self._download(name)
        for name in self._files():
            if name not in wanted and not name.startswith((_BATCHES, _FOLDER_MARK)):
                (self.folder / name).unlink()
        self._published = {name: self._version(name) for name in wanted}
        self._write_record()
        return len(wanted)

    def upload(self, *, all_files: bool = True) -> None:
        """Copy new files to the object store: finished batches, or all files if asked."""
        files = self._files()
        new = [
            name
            for name in sorted(files, key=_order)
            if self._is_due(name, files, all_files)
            and self._version(name) != self._published.get(name)
        ]
        with store_errors(self.url, "write"):
            if new:
                self.lease.check(f"repeat the command; the runs are kept in {self.folder}")
            for name in new:
                version = self._version(name)
                self._upload(name)
                self._published[name] = version
        if new:
            self._write_record()

    @contextlib.contextmanager
    def publishing(self) -> Iterator[None]:
        """Publish finished batches in a thread during the block, and all files at its end."""
        failures = list[Problem]()

        def work(ended: threading.Event) -> None:
            while not ended.wait(_POLL_S) and not failures:
                try:
                    self.upload(all_files=False)
                except Problem as problem:
                    failures.append(problem)

        try:
            with in_background(work):
                yield
        finally:
            if failures:
                raise failures[0]
            self.upload()

    def _check_ours(self, remote: dict[str, int]) -> None:
        others = sorted(name for name in remote if not name.startswith(f"{WRITERS}/"))
        ours = any(name == _FOLDER_MARK or name.endswith("study.json") for name in others)
        if others and not ours:
            what = f"contains other files ({', '.join(others[:_MOST_OTHERS])}) and no results"
            raise Problem(what, where=self.url, remedy="name a new or an empty folder")

    def _keep_unpublished(self, wanted: dict[str, int]) -> None:
        """Keep only finished batches of the copy that are in the object store, or never were.

        A batch that was never published gets a new number if another one has its number.
        """
        batches, record = self.folder / _BATCHES, self.folder / _RECORD
        if not batches.is_dir():
            return
        published = set(json.loads(record.read_text())) if record.exists() else set()
        numbers = {name.split("/")[2] for name in wanted if name.startswith(f"{_BATCHES}/")}
        taken = {int(entry) for entry in (*numbers, *(entry.name for entry in batches.iterdir()))}
        for batch in sorted(batches.iterdir()):
            name = f"{_BATCHES}/{batch.name}/{NAME}"
            finished = (batch / _MARK).exists() and (batch / NAME).exists()
            same = name in wanted and self._content(name) == (batch / NAME).read_bytes()
            if not finished or (name in published and not same):
                shutil.rmtree(batch)  # it was deleted, or replaced, in the object store
            elif not same and batch.name in numbers:
                taken.add(max(taken) + 1)
                batch.rename(batches / f"{max(taken):05d}")

    def _is_due(self, name: str, files: set[str], all_files: bool) -> bool:
        """Return whether a file may be published now: of a batch, if the batch is finished."""
        if not name.startswith(f"{_BATCHES}/"):
            return all_files or name.startswith("runs/")
        batch = name.rpartition("/")[0]
        return f"{batch}/{NAME}" in files and f"{batch}/{_MARK}" in files

    def _files(self) -> set[str]:
        """Return the files of the copy that an object store may have."""
        every = (one for one in self.folder.rglob("*") if one.is_file())
        names = (one.relative_to(self.folder).as_posix() for one in every)
        return {name for name in names if not _PRIVATE.search(name)}

    def _version(self, name: str) -> Version:
        stat = (self.folder / name).stat()
        return stat.st_size, stat.st_mtime_ns

    def _write_record(self) -> None:
        """Record the published files, so that a batch deleted in the object store stays deleted."""
        write_whole(self.folder / _RECORD, json.dumps(sorted(self._published)))

    def _content(self, name: str) -> bytes:
        with self._remote.open_input_stream(self._path(name)) as file:
            return bytes(file.read())

    def _download(self, name: str) -> None:
        target = self.folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        beside = target.with_name(f".{target.name}.part")
        beside.write_bytes(self._content(name))
        beside.replace(target)

    def _upload(self, name: str) -> None:
        """Copy one file to the object store, which shows a file only after it is complete."""
        with self._remote.open_output_stream(self._path(name)) as file:
            file.write((self.folder / name).read_bytes())

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _infos(self, folder: str) -> list[fs.FileInfo]:
        place = self._path(folder).rstrip("/")
        selector = fs.FileSelector(place, recursive=True, allow_not_found=True)
        return [one for one in self._remote.get_file_info(selector) if one.is_file]

    def _listed(self, folder: str) -> dict[str, int]:
        """Return name -> bytes of the files of the folder in the object store."""
        return {one.path[len(self._root) + 1 :]: one.size for one in self._infos(folder)}


def _counts(name: str, remote: dict[str, int]) -> bool:
    """Return whether a file of an object store belongs into the copy. A lease and the files of an
    unfinished batch do not.
    """
    if name.startswith(f"{_BATCHES}/"):
        return f"{name.rpartition('/')[0]}/{_MARK}" in remote
    return not name.startswith(f"{WRITERS}/")


def _order(name: str) -> tuple[bool, bool, bool, str]:
    """Return the order of copying: the folder's mark comes first, and the marks of batches last."""
    return name.endswith(_MARK), name.endswith(NAME), name != _FOLDER_MARK, name


def _has(file: Path, size: int) -> bool:
    return file.is_file() and file.stat().st_size == size
