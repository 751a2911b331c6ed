"""Interpreted twins: the Python functions behind compiled functions, as ordinary functions.

On a machine without the machine code of a protocol, a node begins at once with the interpreted twin
of its handler, which works on the same arrays and gives the same bytes. The twin of a function is
the same code with other globals. A global that is a compiled function, or that reaches one in the
package, is replaced by its own twin.
"""

from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

from halfway.core.compiler.reach import PACKAGE

_TWINS: dict[int, Any] = {}
_KEPT: list[Any] = []  # the originals, so that no other object has an id in `_TWINS`


def interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the interpreted twin of a function, compiled or not; each function has one twin.

    Classes and functions of other packages are their own twins. Unsigned integers wrap around in
    the twin as in compiled code; numpy warns of this unless the caller turns the warning off.
    """
    twin: Callable[..., Any] = _twin(function)
    return twin


def _twin(value: Any) -> Any:
    """Return the interpreted twin of a global; a value that reaches no compiled code is its own
    twin.
    """
    if id(value) in _TWINS:
        return _TWINS[id(value)]
    function = getattr(value, "py_func", value)
    is_compiled = function is not value
    if isinstance(function, FunctionType) and (is_compiled or _is_ours(function.__module__)):
        return _function_twin(value, function)
    if isinstance(value, ModuleType) and _is_ours(value.__name__):
        return _remembered(value, _ModuleTwin(value))
    if _is_table(value):
        return _remembered(value, _TableTwin(value))
    return value


def _is_table(value: Any) -> bool:
    """Return whether a global is a table of compiled functions, or a table of such tables."""
    return type(value) is dict and any(
        hasattr(part, "py_func") or _is_table(part) for part in value.values()
    )


def _is_ours(module: str | None) -> bool:
    name = module or ""
    # The name of a user's protocol module begins with the name of the package.
    return name.partition(".")[0].startswith(PACKAGE)


def _remembered(value: Any, twin: Any) -> Any:
    _KEPT.append(value)
    _TWINS[id(value)] = twin
    return twin


def _function_twin(value: Any, function: FunctionType) -> Any:
    names = _global_names(function.__code__)
    scope = {"__builtins__": __builtins__, "__name__": function.__module__}
    made = FunctionType(
        function.__code__, scope, function.__name__, function.__defaults__, _closure(function)
    )
    made.__kwdefaults__ = function.__kwdefaults__
    _remembered(value, made)  # before its globals: functions may call each other
    for name in names & function.__globals__.keys():
        scope[name] = _twin(function.__globals__[name])
    return made


def _closure(function: FunctionType) -> Any:
    cells = function.__closure__
    if cells is None:
        return None
    return tuple(type(cell)(_twin(cell.cell_contents)) for cell in cells)


def _global_names(code: Any) -> set[str]:
    """Return the global names in the code of a function and of the functions inside it."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names |= _global_names(constant)
    return names


class _ModuleTwin:
    """A module of the package as an interpreted twin sees it among its globals."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = _twin(getattr(self._module, name))
        setattr(self, name, found)
        return found


class _TableTwin:
    """A table of compiled functions as an interpreted twin sees it; the table may grow later."""

    def __init__(self, table: dict[Any, Any]) -> None:
        self._table = table

    def __getitem__(self, key: Any) -> Any:
        return _twin(self._table[key])

    def get(self, key: Any) -> Any:
        """Return the interpreted twin of a table's entry, or None for an unknown key."""
        return _twin(self._table.get(key))
