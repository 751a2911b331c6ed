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
import socket
import threading
import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
from pyarrow import fs

from halfway.files import write_whole
from halfway.pipeline.store.manifest import NAME
from halfway.problem import Problem

_URL = re.compile(r"s3:/+(?P<rest>.+)")
_RENEWAL_S, _LEASE_S = 10.0, 60.0
_POLL_S = 0.5
_MARK, _WRITERS, _BATCHES = "_SUCCESS", "writers", "runs/batches"
_FOLDER_MARK = "runs/manifest.json"
_RECORD = ".published.json"
_PRIVATE = re.compile(r"(^|/)(lock|\.[^/]*)$")  # files of the working copy alone
_MOST_OTHERS = 3
Version = tuple[int, int]  # bytes, and time of the last change in ns
# What an object store answers -> what it means, and what to do.
_REASONS = (
    (r"ACCESS_DENIED|INVALID_ACCESS_KEY|INVALID_CLIENT_TOKEN|SIGNATURE|InvalidAccessKeyId|Forbidden"
     r"|MISSING_AUTHENTICATION|NO_CREDENTIALS|AuthFailure|HTTP status 40[13]",
     "the object store refuses the credentials",
     "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE"),
    (r"NO_SUCH_BUCKET|NoSuchBucket|[Bb]ucket .*(does not exist|not found)",
     "there is no such bucket", "create the bucket first"),
    (r"NETWORK_CONNECTION|curlCode|Couldn't (connect|resolve)",
     "cannot reach the object store", "check the network and AWS_ENDPOINT_URL"),
)  # fmt: skip


def object_url(out: Path | str) -> str | None:
    """The URL of an output folder in an object store; None for a folder of this machine."""
    found = _URL.fullmatch(str(out))  # a path has lost the second slash
    return f"s3://{found['rest'].rstrip('/')}" if found else None


@contextlib.contextmanager
def output_folder(out: Path | str) -> Iterator[Path]:
    """An output folder to write to: `out` itself, or the working copy of one in an object store.

    At the end of the block, also after an error, everything new is published. Raises Problem if
    another writer is alive, if the folder has other files and no results, or if the store does not
    answer; what is not published yet stays in the working copy, for the next command.
    """
    url = object_url(out)
    if url is None:
        yield Path(out)
        return
    copy = WorkingCopy(url, "write")
    with copy.lease():
        copy.fetch()
        copy.publish()  # batches that an earlier command could not publish
        with copy.publishing():
            yield copy.folder


@contextlib.contextmanager
def finished_folder(out: Path | str) -> Iterator[Path]:
    """An output folder to read: `out` itself, or a copy of one in an object store.

    Raises Problem if the object store does not answer, or has no such folder.
    """
    url = object_url(out)
    if url is None:
        yield Path(out)
        return
    copy = WorkingCopy(url, "read")
    if not copy.fetch():
        raise Problem("there is no such folder", where=url)
    yield copy.folder


def shown(out: Path | str, folder: Path, file: Path) -> str:
    """Where a user finds a file of an output folder: its URL if the folder is in an object store.

    folder: what `output_folder` or `finished_folder` gave for `out`.
    """
    url = object_url(out)
    return str(file) if url is None else f"{url}/{file.relative_to(folder).as_posix()}"


class WorkingCopy:
    """The working copy of an output folder in an object store. `purpose`: "read" or "write"."""

    def __init__(self, url: str, purpose: str) -> None:
        self.url = url
        self.id = uuid.uuid4().hex
        cache = Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser()
        name = hashlib.sha256(
            f"{url} {os.environ.get('AWS_ENDPOINT_URL', '')}".encode()
        ).hexdigest()
        self.folder = cache / "halfway-object-stores" / f"{name[:16]}-{purpose}"
        with self._errors("open"):
            self._remote, self._root = fs.FileSystem.from_uri(url)
        self._published: dict[str, Version] = {}

    def fetch(self) -> int:
        """Copy what the object store has, and delete what it no longer has; return the files.

        Unfinished batches are left out. A batch of the copy that was never published stays, under
        a new number if the store has another batch of its number.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        with self._errors("read"):
            remote = self._listed("")
            self._check_ours(remote)
            wanted = {name: size for name, size in remote.items() if _counts(name, remote)}
            self._keep_unpublished(wanted)
            for name, size in sorted(wanted.items(), key=lambda one: _order(one[0])):
                if not (name.startswith(_BATCHES) and _has(self.folder / name, size)):
                    self._download(name)
        for name in self._files():
            if name not in wanted and not name.startswith((_BATCHES, _FOLDER_MARK)):
                (self.folder / name).unlink()
        self._published = {name: self._version(name) for name in wanted}
        self._write_record()
        return len(wanted)

    def publish(self, *, all_files: bool = True) -> None:
        """Copy what is new to the object store: finished batches, and all other files if asked."""
        files = self._files()
        new = [
            name
            for name in sorted(files, key=_order)
            if self._is_due(name, files, all_files)
            and self._version(name) != self._published.get(name)
        ]
        with self._errors("write"):
            if new:
                self._check_lease()
            for name in new:
                version = self._version(name)
                self._upload(name)
                self._published[name] = version
        if new:
            self._write_record()

    @contextlib.contextmanager
    def publishing(self) -> Iterator[None]:
        """Publish finished batches in a thread during the block, and all files at its end."""
        ended, failures = threading.Event(), list[Problem]()

        def work() -> None:
            while not ended.wait(_POLL_S) and not failures:
                try:
                    self.publish(all_files=False)
                except Problem as problem:
                    failures.append(problem)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            if failures:
                raise failures[0]
            self.publish()

    @contextlib.contextmanager
    def lease(self) -> Iterator[None]:
        """Be the only writer of the folder in the object store during the block.

        A writer states itself before it looks for others, so of two writers at least one sees the
        other and stops. Times are those of the store. A lease that is not renewed ends by itself.
        """
        ended = threading.Event()

        def renew() -> None:
            while not ended.wait(_RENEWAL_S):
                with contextlib.suppress(OSError):
                    self._state()

        with self._errors("write"):
            self._state()
            if others := self._writers():
                self._remote.delete_file(self._path(f"{_WRITERS}/{self.id}.json"))
                what = f"{others[0]} is writing to this folder"
                remedy = f"wait until it ends; a killed one is forgotten after {_LEASE_S:g} s"
                raise Problem(what, where=self.url, remedy=remedy)
        thread = threading.Thread(target=renew, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
            with contextlib.suppress(OSError):
                self._remote.delete_file(self._path(f"{_WRITERS}/{self.id}.json"))

    def _state(self) -> None:
        about = {"pid": os.getpid(), "host": socket.gethostname()}
        with self._remote.open_output_stream(self._path(f"{_WRITERS}/{self.id}.json")) as file:
            file.write(json.dumps(about).encode())

    def _writers(self) -> list[str]:
        """The other living writers of the folder, as process and host; removes dead leases."""
        infos = self._infos(_WRITERS)
        own = next((one.mtime for one in infos if self.id in one.path), None)
        found = []
        for one in infos:
            if self.id in one.path:
                continue
            if own is not None and own - one.mtime > timedelta(seconds=_LEASE_S):
                self._remote.delete_file(one.path)
                continue
            with self._remote.open_input_stream(one.path) as file:
                about = json.loads(file.read())
            found.append(f"process {about['pid']} on {about['host']}")
        return found

    def _check_lease(self) -> None:
        """Raise Problem if this writer's lease has ended, as another writer may have begun."""
        if not any(self.id in one.path for one in self._infos(_WRITERS)):
            remedy = f"repeat the command; the runs are kept in {self.folder}"
            raise Problem("another process took over this folder", where=self.url, remedy=remedy)

    def _check_ours(self, remote: dict[str, int]) -> None:
        others = sorted(name for name in remote if not name.startswith(f"{_WRITERS}/"))
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
        taken = {int(one) for one in (*numbers, *(one.name for one in batches.iterdir()))}
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
        """Whether a file may be published now: of a batch, if the batch is finished."""
        if not name.startswith(f"{_BATCHES}/"):
            return all_files or name.startswith("runs/")
        batch = name.rpartition("/")[0]
        return f"{batch}/{NAME}" in files and f"{batch}/{_MARK}" in files

    def _files(self) -> set[str]:
        """The files of the copy that an object store may have."""
        every = (one for one in self.folder.rglob("*") if one.is_file())
        names = (one.relative_to(self.folder).as_posix() for one in every)
        return {name for name in names if not _PRIVATE.search(name)}

    def _version(self, name: str) -> Version:
        stat = (self.folder / name).stat()
        return stat.st_size, stat.st_mtime_ns

    def _write_record(self) -> None:
        """Record what is published, so that a batch deleted in the store is not published again."""
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
        """Copy one file; the object store shows it only as a whole."""
        with self._remote.open_output_stream(self._path(name)) as file:
            file.write((self.folder / name).read_bytes())

    def _path(self, name: str) -> str:
        return f"{self._root}/{name}"

    def _infos(self, folder: str) -> list[fs.FileInfo]:
        place = self._path(folder).rstrip("/")
        selector = fs.FileSelector(place, recursive=True, allow_not_found=True)
        return [one for one in self._remote.get_file_info(selector) if one.is_file]

    def _listed(self, folder: str) -> dict[str, int]:
        """Name -> bytes of the files of the folder in the object store."""
        return {one.path[len(self._root) + 1 :]: one.size for one in self._infos(folder)}

    @contextlib.contextmanager
    def _errors(self, verb: str) -> Iterator[None]:
        """Raise errors of an object store as a Problem in plain words."""
        try:
            yield
        except (OSError, pa.ArrowException) as error:
            text = str(error)
            for pattern, what, remedy in _REASONS:
                if re.search(pattern, text):
                    raise Problem(what, where=self.url, remedy=remedy) from error
            what = f"cannot {verb} results: {text.splitlines()[0]}"
            raise Problem(what, where=self.url) from error


def _counts(name: str, remote: dict[str, int]) -> bool:
    """Whether a file of an object store belongs to the copy: no lease, no unfinished batch."""
    if name.startswith(f"{_BATCHES}/"):
        return f"{name.rpartition('/')[0]}/{_MARK}" in remote
    return not name.startswith(f"{_WRITERS}/")


def _order(name: str) -> tuple[bool, bool, bool, str]:
    """The order of copying: the folder's mark comes first, and the marks of batches last."""
    return name.endswith(_MARK), name.endswith(NAME), name != _FOLDER_MARK, name


def _has(file: Path, size: int) -> bool:
    return file.is_file() and file.stat().st_size == size
