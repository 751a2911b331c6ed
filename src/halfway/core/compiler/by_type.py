"""Functions that the compiler chooses by the type of an argument, as Python chooses a method.

The decorator "overload" of numba does the same, but makes machine code of each choice; see
`callees.py`.
"""

from collections.abc import Callable, Mapping
from typing import Any

from numba.core import types as numba_types
from numba.core.extending import lower_builtin
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global

types: Any = numba_types


def chosen_by_type(
    function: Callable[..., Any], place: int, table: Mapping[Any, Callable[..., Any]]
) -> None:
    """Make compiled calls of `function` dispatch by type: a table has the function for the
    argument's class.

    place: index of the argument, which is a NamedTuple or a lent tuple. table: class -> compiled
    function; it may grow later. A class that the table lacks is an error of typing.
    """

    def choice(args: tuple[Any, ...]) -> Any:
        chosen = table.get(getattr(args[place], "instance_class", None))
        return None if chosen is None else types.Dispatcher(chosen)

    @infer_global(function)
    class _Call(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            chosen = choice(args)
            return chosen and signature(
                chosen.get_call_type(self.context, args, kws).return_type, *args
            )

    @lower_builtin(function, types.VarArg(types.Any))
    def _lowered_call(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        chosen = choice(sig.args)
        call = chosen.get_call_type(context.typing_context, sig.args, {})
        values = [
            context.cast(builder, *each) for each in zip(args, sig.args, call.args, strict=True)
        ]
        return context.get_function(chosen, call)(builder, values)
