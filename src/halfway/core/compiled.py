"""The compile cache: two decorators, and a cache folder that ends in a hash of all sources.

Numba's own cache sees neither edits in other files nor changed globals and silently loads stale
machine code, so the folder's name carries the hash of every source file that can reach a kernel.
"""

import atexit
import hashlib
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core.caching import FunctionCache

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).resolve().parent.parent
# In an archive the sources cannot be hashed, so nothing that was compiled may be kept.
_HASHED = _PACKAGE.is_dir()
# The rooms whose code decides what a run computes: kernels, and everything that feeds them.
COMPUTING_ROOMS = ("core", "protocols", "world", "bulk", "adapters", "sim")
_KEPT_CACHES = 4  # source states whose machine code is kept (switching between branches)


def sources_digest() -> str:
    """Hex digest of the sources that decide a run's result, numba's version included."""
    digest = hashlib.sha256(numba.__version__.encode())
    for room in COMPUTING_ROOMS:
        for path in sorted((_PACKAGE / room).rglob("*.py")):
            digest.update(str(path.relative_to(_PACKAGE)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_folder() -> str:
    try:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "halfway"
        folder = base / sources_digest()
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
        _forget_old(base)
    except (OSError, RuntimeError):  # a read-only home, or none: compile anew, never fail
        # A folder of a known name could be another user's, and machine code in it would be run.
        folder = Path(tempfile.mkdtemp(prefix="halfway-cache-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return str(folder)


def _forget_old(base: Path) -> None:
    folders = sorted(base.iterdir(), key=lambda folder: folder.stat().st_mtime, reverse=True)
    for folder in folders[_KEPT_CACHES:]:
        shutil.rmtree(folder, ignore_errors=True)


CACHE_FOLDER = _cache_folder()


_APART: dict[str, str] = {}  # module -> the folder of all machine code that knows its types


def keep_apart(module: str, folder: Path) -> None:
    """Keep machine code that knows types of that module in a folder of its own.

    Numba's index of a function names the types that it was compiled for, and nobody can read an
    index that names a type which is not there, nor would it notice an edited handler behind a type
    of the same name. So what is not ours never gets into our index. Before its first call.
    """
    _APART[module] = str(folder)


class _Caches:
    """What numba takes for the cache of a function: one of its own for each folder."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._cache_in: dict[str, Any] = {}
        self._main = self._of(())

    def _of(self, signature: Any) -> Any:
        folder = _folder_of(getattr(signature, "args", signature)) or CACHE_FOLDER
        if folder not in self._cache_in:
            # Set for our own functions only: a library loaded beside us keeps its own.
            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
            try:
                self._cache_in[folder] = FunctionCache(self._function)
            finally:
                numba.config.CACHE_DIR = before
        return self._cache_in[folder]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code of a signature; None where it is to be compiled."""
        return self._of(sig).load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code of a signature."""
        self._of(sig).save_overload(sig, data)

    @property
    def cache_path(self) -> Any:
        """Where the machine code is that knows types of ours only."""
        return self._main.cache_path

    def flush(self) -> None:
        """Forget all of it."""
        for cache in self._cache_in.values():
            cache.flush()


def _folder_of(types: Iterable[Any]) -> str | None:
    """Where code is kept that knows these types; None for the folder of all."""
    for one in types:
        made = getattr(one, "instance_class", None)
        if made is not None and made.__module__ in _APART:
            return _APART[made.__module__]
        inner = _folder_of(getattr(one, "types", ()))
        if inner is not None:
            return inner
    return None


def _njit(function: F, **options: Any) -> F:
    made: Any = numba.njit(**options)(function)
    if _HASHED and made is not function:  # as it is where nothing is compiled
        made._cache = _Caches(function)  # what `cache=True` does, with a cache of our own
    compiled: F = made
    return compiled


def kernel(function: F) -> F:
    """Compile on first call, cached on disk across processes. For loops called from Python."""
    return _njit(function, error_model="numpy")


def inlined(function: F) -> F:
    """Like `kernel`, inlined into each caller. For the decisions of a protocol.

    Without it numba leaves a call behind that costs 36 ns instead of 12-14 an event.
    """
    return _njit(function, error_model="numpy", forceinline=True)


def embedded(function: F) -> F:
    """Like `inlined`, for what only compiled code ever calls: a third less to compile.

    The wrapper that Python would call is left out, which unpacks every array of every argument.
    """
    only = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _njit(function, error_model="numpy", forceinline=True, **only)


def apart(function: F) -> F:
    """Like `embedded`, but a call: compiled once, never copied into its callers.

    For the parts of a large handler, and for what is long and wanted in many places. Numba lets a
    callee inherit `forceinline` from whoever has it compiled, so the kernels below a handler would
    all be copied into it, once for each place that uses them. Where they are many, and use each
    other, that is exponential: minutes instead of seconds.

    No reference to an array is counted in it, so it must neither make one, which numba refuses to
    compile, nor hand one back. What it is handed belongs to its caller; it cannot see that, as it
    could where it is inlined, and counted in every loop: two fifths of a large handler's time.
    """
    only = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return _njit(function, error_model="numpy", forceinline=False, **only)
