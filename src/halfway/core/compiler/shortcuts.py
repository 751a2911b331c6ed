"""Shortcuts through numba's own work: a kernel is compiled in less time.

Three quarters of the time to compile a handler is Python code of numba and llvmlite. The shortcuts
replace the parts of this code that return the same answer again and again. `install()` is called
for the versions of numba in `callees.PROVEN` only.
"""

import gc
import importlib
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import ir
from numba.core.compiler_lock import global_compiler_lock
from numba.core.targetconfig import TargetConfig

_ARRAY_FUNCTIONS, _LINEAR_ALGEBRA = "numba.np.arraymath", "numba.np.linalg"

_pausing = threading.Lock()
_defaults: dict[type, dict[str, Any]] = {}  # class of flags -> name -> default
_hashes: dict[type, int] = {}  # class of flags -> hash
_pauses: list[bool] = []  # for each pause under way: whether the collector was on before it


@contextmanager
def collector_paused() -> Iterator[None]:
    """Shorten the compilation of a kernel: keep Python's garbage collector from searching
    meanwhile.

    Nearly all objects of a compilation live until its end, so each search finds little. Pauses of
    several threads may overlap; the last one turns the collector on again, if it was on before.
    """
    with _pausing:
        _pauses.append(gc.isenabled() or any(_pauses))
        gc.disable()
    try:
        yield
    finally:
        with _pausing:
            was_on = _pauses.pop()
            if was_on and not _pauses:
                gc.enable()


def install() -> None:
    """Replace functions of numba by their shortcuts, in this process."""
    TargetConfig.values = values_of
    TargetConfig.__eq__ = are_equal
    TargetConfig.__hash__ = hash_of
    ir.Inst._rec_list_vars = variables_of


def import_array_functions() -> None:
    """Import numba's functions of arrays, which every kernel needs, without scipy's linear algebra.

    Numba imports this linear algebra to find out whether scipy has BLAS, which it always has. Where
    compiled code uses BLAS, numba imports it again.
    """
    if _ARRAY_FUNCTIONS in sys.modules:
        return
    with global_compiler_lock:
        linear_algebra: Any = importlib.import_module(_LINEAR_ALGEBRA)
        ensure_blas = linear_algebra.ensure_blas
        linear_algebra.ensure_blas = lambda: None
        try:
            array_functions: Any = importlib.import_module(_ARRAY_FUNCTIONS)
            array_functions.ensure_blas = ensure_blas
        finally:
            linear_algebra.ensure_blas = ensure_blas


def values_of(flags: Any) -> dict[str, Any]:
    """Return the values of all compiler flags. Numba asks for each flag by a property."""
    return {**_defaults_of(type(flags)), **flags._values}


def are_equal(flags: Any, other: Any) -> Any:
    """Return whether compiler flags have equal values; numba compares them for each call."""
    if flags is other:
        return True
    if not isinstance(other, TargetConfig):
        return NotImplemented
    same = type(flags) is type(other) and flags._values == other._values
    return same or values_of(flags) == values_of(other)


def hash_of(flags: Any) -> int:
    """Return the hash of compiler flags, which covers only their names, as in numba."""
    return _hash_of_names(type(flags))


def _defaults_of(kind: type) -> dict[str, Any]:
    if kind not in _defaults:
        options: Any = kind.__dict__["options"]
        _defaults[kind] = {name: option.default for name, option in options.items()}
    return _defaults[kind]


def _hash_of_names(kind: type) -> int:
    if kind not in _hashes:
        _hashes[kind] = hash(tuple(sorted(_defaults_of(kind))))
    return _hashes[kind]


def variables_of(_instruction: Any, value: Any) -> list[Any]:
    """Return the variables in the operands of an instruction of numba, in order.

    Numba makes a list for each operand; here all of them go into one.
    """
    found: list[Any] = []
    _collect(value, found)
    return found


def _collect(value: Any, variables: list[Any]) -> None:
    if isinstance(value, ir.Var):
        variables.append(value)
    elif isinstance(value, ir.Inst):
        variables += value.list_vars()
    elif isinstance(value, list | tuple):
        for part in value:
            _collect(part, variables)
    elif isinstance(value, dict):
        for part in value.values():
            _collect(part, variables)
