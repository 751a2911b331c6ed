"""Compiled functions that a test runs interpreted, because it asks for their decisions alone.

A test that calls a compiled function makes numba compile it for this test, with all functions that
it calls. The handler of its system contains the same code, and other tests run this handler
compiled. So a test of a few decisions calls the interpreted twin instead. A test of numeric types,
of memory, or of many calls stays compiled.
"""

from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

import numpy as np

from halfway.core.compiled import kernel
from halfway.core.compiler.interpreted import interpreted
from halfway.core.compiler.quick_records import quick

_MOST_TUPLES = 64
_QUICK: dict[int, tuple[Any, Any]] = {}  # id of a tuple -> the tuple, and with quick records


def uncompiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that calls the interpreted twin of a compiled function, or of a function
    of a test that calls compiled functions.

    As in compiled code, unsigned integers wrap around without a warning, and a write to a field
    that a record does not have is an error.
    """
    twin = interpreted(kernel(function) if isinstance(function, FunctionType) else function)

    @wraps(twin)
    def call(*given: Any) -> Any:
        with np.errstate(over="ignore"):
            return twin(*map(_with_quick_records, given))

    return call


def _with_quick_records(value: Any) -> Any:
    """Return a view of a record or of record arrays that interpreted code reads quickly."""
    if isinstance(value, np.void):
        return quick(np.asarray(value).reshape(1).view(np.recarray))[0]
    if not isinstance(value, tuple):
        return quick(value)
    if id(value) not in _QUICK:
        if len(_QUICK) == _MOST_TUPLES:
            _QUICK.clear()
        _QUICK[id(value)] = value, quick(value)
    return _QUICK[id(value)][1]
