"""Decorators of compiled functions, and the digest of the sources that determine a run's result."""

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

from halfway.core.compiler.cache import CompileCache
from halfway.core.compiler.callees import IS_PROVEN, KernelDispatcher

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).resolve().parent.parent
# The packages whose code determines the result of a run: kernels, and what calls them.
COMPUTING_ROOMS = ("core", "protocols", "world", "bulk", "adapters", "sim")
_ALWAYS = {"nopython": True, "error_model": "numpy", "boundscheck": None}


def sources_digest() -> str:
    """Return a hex digest of the sources that determine a run's result, and of numba's version."""
    digest = hashlib.sha256(numba.__version__.encode())
    for room in COMPUTING_ROOMS:
        for path in sorted((_PACKAGE / room).rglob("*.py")):
            digest.update(str(path.relative_to(_PACKAGE)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _compiled(function: F, **options: Any) -> F:
    if numba.config.DISABLE_JIT:
        return function
    options = {**_ALWAYS, **options}
    plain: Any = numba.jit(**options)
    made: Any = KernelDispatcher(function, options) if IS_PROVEN else plain(function)
    made._cache = CompileCache(function, options)  # as `cache=True`, with our own cache
    compiled: F = made
    return compiled


def kernel(function: F) -> F:
    """Compile a kernel, which Python calls, on the first call; later processes load it."""
    return _compiled(function)


def inlined(function: F) -> F:
    """Compile a function like a `kernel`, inlined into each caller: a protocol's decisions.

    Without inlining, the call makes an event cost 36 ns instead of 12-14 ns.
    """
    return _compiled(function, forceinline=True)


def entered(function: F) -> F:
    """Compile a function that machine code calls by its address: it has no wrapper for Python."""
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def apart(function: F) -> F:
    """Compile a function once, and never inline it into its compiled callers.

    For the parts of a large handler, and for long functions with many callers. In numba a callee
    inherits `forceinline` from the function that has it compiled, so all kernels below a handler
    would be inlined into it, once for each use. Where they are many and use each other, the time to
    compile is exponential: minutes instead of seconds.

    The function counts no references to arrays. So it must neither create an array, which numba
    refuses to compile, nor return one. Its arguments belong to its caller; numba cannot know that
    without inlining, and would count in every loop: two fifths of a large handler's time.
    """
    return _compiled(function, forceinline=False, _nrt=False)
