"""The compile cache: four decorators, and a cache folder whose name is a hash of the sources.

Numba's own cache notices neither edits in other files nor changed globals, and silently loads stale
machine code. So the folder's name is the hash of every source file that can affect a kernel.
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
# In an archive the sources cannot be hashed, so machine code must not be cached.
_HASHED = _PACKAGE.is_dir()
# The packages whose code determines the result of a run: kernels, and what calls them.
COMPUTING_ROOMS = ("core", "protocols", "world", "bulk", "adapters", "sim")
_KEPT_CACHES = 4  # source states whose machine code is kept (switching between branches)


def sources_digest() -> str:
    """Return a hex digest of the sources that determine a run's result, and of numba's version."""
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
    except (OSError, RuntimeError):  # the home folder is missing or read-only: compile anew
        # A folder of a predictable name could be another user's, and its machine code would run.
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
    """Cache machine code that depends on types of a user's module in a separate compile cache.

    Numba's index of a function has the types that it was compiled for. An index that refers to a
    missing type cannot be read, and an edited handler of a type of the same name is not noticed.
    So types of a user's module never enter the main index. Call this before the module's first use.
    """
    _APART[module] = str(folder)


class _Caches:
    """The compile cache of one compiled function: a numba cache for each folder."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._cache_in: dict[str, Any] = {}
        self.cache_path = self._of(()).cache_path  # for the statistics of numba

    def _of(self, signature: Any) -> Any:
        folder = _folder_of(getattr(signature, "args", signature)) or CACHE_FOLDER
        if folder not in self._cache_in:
            # Only for functions of this package: other libraries keep their own setting.
            before, numba.config.CACHE_DIR = numba.config.CACHE_DIR, folder
            try:
                self._cache_in[folder] = FunctionCache(self._function)
            finally:
                numba.config.CACHE_DIR = before
        return self._cache_in[folder]

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the machine code of a signature from the compile cache; None if it is missing."""
        return self._of(sig).load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Store the machine code of a signature in the compile cache."""
        self._of(sig).save_overload(sig, data)


def _folder_of(types: Iterable[Any]) -> str | None:
    """Return the compile cache folder for code that depends on these types; None: the main one."""
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
    if _HASHED and made is not function:  # the same where numba is disabled
        made._cache = _Caches(function)  # as `cache=True`, with our own cache
    compiled: F = made
    return compiled


def kernel(function: F) -> F:
    """Compile a kernel on first call, cached on disk across processes: loops called from Python."""
    return _njit(function, error_model="numpy")


def inlined(function: F) -> F:
    """Compile a function like a `kernel`, inlined into each caller: a protocol's decisions.

    Without inlining, the call makes an event cost 36 ns instead of 12-14 ns.
    """
    return _njit(function, error_model="numpy", forceinline=True)


def embedded(function: F) -> F:
    """Compile a function like `inlined`, for compiled callers only: compiles a third faster.

    It has no wrapper for Python, which would unpack every array of every argument.
    """
    only = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _njit(function, error_model="numpy", forceinline=True, **only)


def apart(function: F) -> F:
    """Compile a function like `embedded`, but once and never inlined into its callers.

    For the parts of a large handler, and for long functions with many callers. In numba a callee
    inherits `forceinline` from the function that has it compiled, so all kernels below a handler
    would be inlined into it, once for each use. Where they are many and use each other, the time to
    compile is exponential: minutes instead of seconds.

    The function counts no references to arrays. So it must neither create an array, which numba
    refuses to compile, nor return one. Its arguments belong to its caller; numba cannot know that
    without inlining, and would count in every loop: two fifths of a large handler's time.
    """
    only = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return _njit(function, error_model="numpy", forceinline=False, **only)
