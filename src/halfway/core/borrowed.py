"""Borrowed tuples: compiled loops that do not count references to the arrays of a tuple.

Numba counts a reference, atomically, each time an array is taken out of a tuple. In a loop whose
body takes 7 ns that costs 25 ns more. A borrowed tuple has the same arrays without an owner, so the
compiler removes the counting. This is safe as long as the kernel neither returns nor stores a
borrowed array, because the references of the caller keep the arrays alive until the kernel returns.
`docs/decisions/0004` has the measurements.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.core.extending import lower_builtin, type_callable


def borrowed(value: Any) -> Any:
    """Return a borrowed tuple with the same fields, in which compiled code does not count
    references to arrays. The caller must keep the given tuple.
    """
    return value


@type_callable(borrowed)
def _type_of_borrowed(_context: Any) -> Any:
    return lambda value: value


@lower_builtin(borrowed, types.Any)
def _lowered_borrowed(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
    return _ownerless(context, builder, sig.args[0], args[0])


def _ownerless(context: Any, builder: ir.IRBuilder, kind: types.Type, value: ir.Value) -> ir.Value:
    if isinstance(kind, types.BaseTuple):
        parts = [
            _ownerless(context, builder, part, builder.extract_value(value, place))
            for place, part in enumerate(kind)
        ]
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = cgutils.get_null_value(array.meminfo.type)
        array.parent = cgutils.get_null_value(array.parent.type)
        return array._getvalue()
    return value
