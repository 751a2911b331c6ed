"""The lease of a writer on a folder in an object store, and the errors of the store in plain
words.
"""

import contextlib
import json
import os
import re
import socket
import threading
import uuid
from collections.abc import Iterator
from datetime import timedelta

import pyarrow as pa
from pyarrow import fs

from halfway.pipeline.store.background_thread import in_background
from halfway.problem import Problem

WRITERS = "writers"
_RENEWAL_S, _LEASE_S = 10.0, 60.0
# Answer of an object store -> its meaning, and a remedy.
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


@contextlib.contextmanager
def store_errors(url: str, verb: str) -> Iterator[None]:
    """Raise the errors of an object store as a Problem in plain words, for a writer or a reader."""
    try:
        yield
    except (OSError, pa.ArrowException) as error:
        text = str(error)
        for pattern, what, remedy in _REASONS:
            if re.search(pattern, text):
                raise Problem(what, where=url, remedy=remedy) from error
        what = f"cannot {verb} results: {text.splitlines()[0]}"
        raise Problem(what, where=url, remedy="check the address and your access to it") from error


class Lease:
    """The lease of one writer on a folder: an object in `writers/`, which the writer renews while
    it holds the lease.
    """

    def __init__(self, url: str, remote: fs.FileSystem, root: str) -> None:
        self.url, self._remote = url, remote
        self._folder = f"{root}/{WRITERS}"
        self._own = f"{self._folder}/{uuid.uuid4().hex}.json"

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Be the only writer of the folder in the object store during the block.

        A writer writes its lease before it looks for others, so of two writers at least one sees
        the other and stops. The clock of the store gives the times. A lease that is not renewed
        ends by itself.
        """

        def renew(ended: threading.Event) -> None:
            while not ended.wait(_RENEWAL_S):
                with contextlib.suppress(OSError):
                    if not self._is_there():  # the lease ended while this process did not run
                        return
                    self._state()

        with store_errors(self.url, "write"):
            self._state()
            if others := self._writers():
                self._remote.delete_file(self._own)
                what = f"{others[0]} is writing to this folder"
                remedy = (
                    f"wait until it ends; a killed process loses its lease after {_LEASE_S:g} s"
                )
                raise Problem(what, where=self.url, remedy=remedy)
        try:
            with in_background(renew):
                yield
        finally:
            with contextlib.suppress(OSError):
                self._remote.delete_file(self._own)

    def _state(self) -> None:
        about = {"pid": os.getpid(), "host": socket.gethostname()}
        with self._remote.open_output_stream(self._own) as file:
            file.write(json.dumps(about).encode())

    def _writers(self) -> list[str]:
        """Return the other living writers of the folder, as process and host; delete dead
        leases.
        """
        infos = self._infos()
        own = next((info.mtime for info in infos if info.path == self._own), None)
        writers = []
        for info in infos:
            if info.path == self._own:
                continue
            if own is not None and own - info.mtime > timedelta(seconds=_LEASE_S):
                self._remote.delete_file(info.path)
                continue
            with self._remote.open_input_stream(info.path) as file:
                about = json.loads(file.read())
            writers.append(f"process {about['pid']} on {about['host']}")
        return writers

    def check(self, remedy: str) -> None:
        """Raise Problem if this writer's lease has ended, as another writer may have begun."""
        if not self._is_there():
            raise Problem("another process took over this folder", where=self.url, remedy=remedy)

    def _is_there(self) -> bool:
        return any(one.path == self._own for one in self._infos())

    def _infos(self) -> list[fs.FileInfo]:
        selector = fs.FileSelector(self._folder, allow_not_found=True)
        return [one for one in self._remote.get_file_info(selector) if one.is_file]
