"""The one door to a protocol: `handle`, chosen at compile time by the type of its state."""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import types
from numba.extending import overload

from halfway.core.compiled import inlined

F = TypeVar("F", bound=Callable[..., Any])

_HANDLERS: dict[type, Callable[..., None]] = {}


def handle(state: Any, rules: Any, neighbourhood: Any, i: int, message: Any, out: Any) -> None:
    """Let row `i` of `state` receive `message` and emit records into `out`.

    Called from compiled code this is the protocol's own function, inlined; called from Python it
    is the same machine code. Raises KeyError for a state that no protocol has claimed.
    """
    _HANDLERS[type(state)](state, rules, neighbourhood, i, message, out)


def is_claimed(state_type: type) -> bool:
    """Whether a protocol has declared its handler of messages to rows of that type."""
    return state_type in _HANDLERS


def handles(state_type: type) -> Callable[[F], F]:
    """Declare a function as the handler of every message to rows of `state_type`.

    A NamedTuple class is its own numba type, so `overload` (public, cached, inlined) can pick the
    handler; the engine is compiled once for each protocol that is used.
    """

    def register(function: F) -> F:
        compiled = inlined(function)
        _HANDLERS[state_type] = compiled

        @overload(handle, jit_options={"forceinline": True})
        def chosen(state, rules, neighbourhood, i, message, out):
            if not (isinstance(state, types.BaseNamedTuple) and state.instance_class is state_type):
                return None
            return lambda state, rules, neighbourhood, i, message, out: compiled(
                state, rules, neighbourhood, i, message, out
            )

        return compiled

    return register
