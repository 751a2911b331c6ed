"""The entry point of every protocol: `handle`, chosen at compile time by the type of its state."""

from collections.abc import Callable
from typing import Any, TypeVar

from halfway.core.compiled import inlined
from halfway.core.compiler import reach
from halfway.core.compiler.by_type import chosen_by_type

F = TypeVar("F", bound=Callable[..., Any])

_HANDLERS: dict[type, Callable[..., None]] = {}


def handle(state: Any, rules: Any, neighbourhood: Any, i: int, message: Any, out: Any) -> None:
    """Call the handler that belongs to the type of a state: handle `message` at row `i`, and emit
    into `out`.

    In compiled code, a call is the protocol's own function, inlined. From Python, the same machine
    code runs. Raises KeyError for a state type without a handler.
    """
    _HANDLERS[type(state)](state, rules, neighbourhood, i, message, out)


def is_claimed(state_type: type) -> bool:
    """Return whether a state type has a handler already."""
    return state_type in _HANDLERS


def handles(state_type: type) -> Callable[[F], F]:
    """Declare a function as the handler of all records for rows of `state_type`.

    A NamedTuple class is its own numba type, so the compiler chooses the handler.
    """

    def register(function: F) -> F:
        compiled = inlined(function)
        _HANDLERS[state_type] = compiled

        reach.extend(state_type.__module__, function.__module__)
        return compiled

    return register


chosen_by_type(handle, 0, _HANDLERS)
