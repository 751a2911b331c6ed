"""The decorators of compiled functions, and the digest of all sources that determine the result of
a run.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import numba

from halfway.core.compiler.cache import CompileCache
from halfway.core.compiler.callees import IS_PROVEN, KernelDispatcher

F = TypeVar("F", bound=Callable[..., Any])

_PACKAGE = Path(__file__).resolve().parent.parent
# The packages whose code determines the result of a run: kernels and their callers.
COMPUTING_ROOMS = ("core", "protocols", "world", "bulk", "adapters", "sim")
_ALWAYS = {"nopython": True, "error_model": "numpy", "boundscheck": None}


@cache
def sources_digest() -> str:
    """Return a hex digest of all sources with compiled functions and their callers, which determine
    the result of a run, and of numba's version.

    A process imports these sources once, so it reads them once.
    """
    digest = hashlib.sha256(numba.__version__.encode())
    for package in COMPUTING_ROOMS:
        for path in sorted((_PACKAGE / package).rglob("*.py")):
            digest.update(str(path.relative_to(_PACKAGE)).encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _compiled(function: F, **options: Any) -> F:
    if numba.config.DISABLE_JIT:
        return function
    options = {**_ALWAYS, **options}
    plain: Any = numba.jit(**options)
    made: Any = KernelDispatcher(function, options) if IS_PROVEN else plain(function)
    made._cache = CompileCache(function, options)  # like `cache=True`, with our own cache
    compiled: F = made
    return compiled


def kernel(function: F) -> F:
    """Make a function a compiled kernel, which Python calls. It is compiled on the first call;
    later processes load it.
    """
    return _compiled(function)


def inlined(function: F) -> F:
    """Compile a function like a `kernel`, and inline it into each compiled caller, as for the
    decisions of a protocol.

    Without inlining, the call makes an event cost 36 ns instead of 12-14 ns.
    """
    return _compiled(function, forceinline=True)


def entered(function: F) -> F:
    """Compile a function by this decorator for machine code that calls it by its address, without a
    wrapper for calls from Python.
    """
    return _compiled(function, no_cpython_wrapper=True, no_cfunc_wrapper=True)


def apart(function: F) -> F:
    """Compile a function once, and never inline it into its compiled callers.

    The decorator is for the parts of a large handler, and for long functions with many callers. In
    numba a callee inherits `forceinline` from its first compiled caller. So all kernels below a
    handler would be inlined into the handler, once for each use. If many kernels use each other,
    the compilation takes exponential time: minutes instead of seconds.

    The function counts no references to arrays. So it must neither create an array, which numba
    refuses to compile, nor return one. Its arguments belong to its caller. Without inlining, numba
    cannot know this, and would count references in every loop, which takes two fifths of the time
    of a large handler.
    """
    return _compiled(function, forceinline=False, _nrt=False)
