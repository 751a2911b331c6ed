"""The compile cache: one file for each kernel and signature, whose name is a hash of sources and
types.

Numba's own cache notices neither edits in other files nor changed globals, and silently loads stale
machine code. Here the name of a file is a digest of the sources that the kernel can reach, the
types that it is compiled for, its options, numba's version and the processor.
"""

import atexit
import contextlib
import fcntl
import hashlib
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import typeof
from numba.core import serialize
from numba.core.compiler import CompileResult

from halfway.core.compiler import reach

_MOST_BYTES = 500_000_000  # bytes of machine code to keep; the least recently used goes first
# A wheel may carry machine code (`make wheel`) for this processor: the values of NUMBA_CPU_NAME and
# NUMBA_CPU_FEATURES.
SHIPPED = Path(__file__).resolve().parent.parent.parent / "machine_code"
GENERIC = ("x86-64", "")
_SEAL = hashlib.sha256().digest_size


def _cache_folder() -> Path:
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "halfway"
        folder.mkdir(parents=True, exist_ok=True)
        if os.access(folder, os.W_OK | os.X_OK):
            return folder
    except (OSError, RuntimeError):  # the home folder is missing or read-only: compile again
        pass
    # A folder with a predictable name could belong to another user, and the process would run the
    # machine code in it.
    folder = Path(tempfile.mkdtemp(prefix="halfway-cache-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


CACHE_FOLDER = _cache_folder()


class CompileCache:
    """The compile cache of one compiled function, with the interface of numba's own."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        self._function, self._options = function, options
        name = f"{function.__module__}.{function.__qualname__}".replace("<locals>.", "")
        self._name = name.removeprefix("halfway.")
        self.cache_path = str(CACHE_FOLDER)  # for the statistics of numba

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the machine code of a signature from the compile cache.

        Return None if it is missing.
        """
        path = self._path(sig, target_context)
        if path is None:
            return None
        target_context.refresh()
        content = b""
        with contextlib.suppress(OSError):
            content = path.read_bytes()
            os.utime(path)
        if not content:
            with contextlib.suppress(OSError):
                content = self._shipped(sig, target_context).read_bytes()
        seal, data = content[:_SEAL], content[_SEAL:]
        if hashlib.sha256(data).digest() != seal:  # the disk was full, or a bit flipped
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(data))

    def has(self, sig: Any, target_context: Any) -> bool:
        """Return whether the compile cache has the machine code of a signature, without loading the
        code.
        """
        path = self._path(sig, target_context)
        if path is None:
            return False
        return path.exists() or self._shipped(sig, target_context).exists()

    def save_overload(self, sig: Any, result: Any) -> None:
        """Store the machine code of a signature in the compile cache."""
        path = self._path(sig, result.target_context)
        if path is None or result.lifted or result.library.has_dynamic_globals:
            return
        data = serialize.dumps(result._reduce())
        beside = path.with_name(f"{path.name}.{os.getpid()}.part")
        with contextlib.suppress(OSError):
            try:
                beside.write_bytes(hashlib.sha256(data).digest() + data)
                beside.replace(path)
            finally:
                beside.unlink(missing_ok=True)
            _forget_old(CACHE_FOLDER)

    @contextlib.contextmanager
    def alone(self, sig: Any, target_context: Any) -> Iterator[None]:
        """Keep other processes from compiling a signature for the compile cache while this process
        compiles it.

        All other processes wait, and then load the machine code. The end of a process frees its
        locks.
        """
        path = self._path(sig, target_context)
        with contextlib.ExitStack() as held:
            if path is not None and not path.exists():
                with contextlib.suppress(OSError):
                    lock = held.enter_context(path.with_suffix(".lock").open("w"))
                    held.callback(path.with_suffix(".lock").unlink, missing_ok=True)
                    fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def _path(self, sig: Any, target_context: Any) -> Path | None:
        """Return the file of a signature in the compile cache, or None for a function whose sources
        cannot be read.
        """
        if not reach.reachable([self._function.__module__]):
            return None
        return CACHE_FOLDER / self._file(sig, target_context.codegen().magic_tuple())

    def _shipped(self, sig: Any, target_context: Any) -> Path:
        """Return the file in the wheel that has the machine code of a signature for any x86-64
        processor.
        """
        triple, *_ = target_context.codegen().magic_tuple()
        return SHIPPED / self._file(sig, (triple, *GENERIC))

    def _file(self, sig: Any, processor: tuple[str, ...]) -> str:
        function, types = self._function, tuple(getattr(sig, "args", sig))
        words = [
            numba.__version__,
            llvmlite.__version__,
            sys.implementation.cache_tag,
            processor,
            function.__code__.co_firstlineno,
            types,
            sorted(self._options.items()),
            *map(_identity, function.__closure__ or ()),
            reach.digest_of([function.__module__, *_modules(types)]),
        ]
        digest = hashlib.sha256("\n".join(map(str, words)).encode()).hexdigest()
        return f"{self._name}-{digest[:24]}.kernel"


def _modules(types: Iterable[Any]) -> Iterator[str]:
    """Yield the modules that define the classes and functions named in numba types, for the cache
    key.
    """
    for type_ in types:
        if made := getattr(type_, "instance_class", None):
            yield made.__module__
        if dispatcher := getattr(type_, "dispatcher", None):
            yield dispatcher.py_func.__module__
        yield from _modules(getattr(type_, "types", ()))


def _identity(cell: Any) -> str:
    """Return the part of a compile cache file's name that follows from a variable of an outer
    function.
    """
    value = cell.cell_contents
    function = getattr(value, "py_func", value)
    if hasattr(function, "__qualname__"):
        return f"{function.__module__}.{function.__qualname__}"
    return hashlib.sha256(pickle.dumps(value)).hexdigest()


def _forget_old(folder: Path) -> None:
    """Delete the least recently used files of the compile cache beyond its limit."""
    files = [(file.stat(), file) for file in folder.glob("*.kernel")]
    total = sum(cached.st_size for cached, _ in files)
    for cached, file in sorted(files, key=lambda entry: entry[0].st_mtime):
        if total <= _MOST_BYTES:
            return
        file.unlink(missing_ok=True)
        total -= cached.st_size


def is_stored(function: Callable[..., Any], *arguments: Any) -> bool:
    """Return whether the compile cache has a kernel for the types of these arguments.

    For an interpreted function the result is True, because nothing has to be compiled.
    """
    kernel: Any = function
    if not hasattr(kernel, "py_func"):
        return True
    kinds = tuple(typeof(argument) for argument in arguments)
    return kinds in kernel.overloads or kernel._cache.has(kinds, kernel.targetctx)
