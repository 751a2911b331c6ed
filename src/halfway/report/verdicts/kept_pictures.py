"""The pictures of a study, which its folder keeps: the same values and code are drawn once."""

import contextlib
import hashlib
from collections.abc import Callable, Iterable
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import msgspec

from halfway.files import write_whole
from halfway.pipeline.plan.provenance import code_digest
from halfway.pipeline.statistics.summary import Summary

_NAME = ".pictures"
_LIBRARIES = ("altair", "vl-convert-python", "matplotlib", "numba", "numpy", "scipy")


class KeptPictures:
    """The pictures of a study as SVG. The name of each is a digest of all that determines it.

    Without a folder, nothing is kept.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._file = folder / _NAME if folder else None
        self._kept: dict[str, str] = {}
        self._used: dict[str, str] = {}
        if self._file and self._file.is_file():
            # Draw again what cannot be read.
            with contextlib.suppress(OSError, msgspec.MsgspecError):
                self._kept = msgspec.json.decode(self._file.read_bytes(), type=dict[str, str])

    def svg(self, module: str, values: Iterable[Any], draw: Callable[[], str]) -> str:
        """Return a picture that the code of a module draws of some values; draw it if it is not
        kept.
        """
        digest = hashlib.sha256(_code(module).encode())
        for value in values:
            digest.update(f"{_values_of(value)}\n".encode())
        key = digest.hexdigest()
        self._used[key] = self._kept.get(key) or self._used.get(key) or draw()
        return self._used[key]

    def save(self) -> None:
        """Keep the pictures of this report, and no other. Raises Problem for a folder that cannot
        be written to.
        """
        if self._file and self._used.keys() != self._kept.keys():
            write_whole(self._file, msgspec.json.encode(self._used))


@cache
def _code(module: str) -> str:
    """Return a digest of the code and the libraries that draw."""
    return " ".join([code_digest(module), *map(version, _LIBRARIES)])


def _values_of(value: Any) -> Any:
    """Return what a picture shows of a value; no plot shows the replicates of the bootstrap."""
    if not isinstance(value, Summary):
        return value
    return [getattr(value, name) for name in value.__struct_fields__ if not name.startswith("boot")]
