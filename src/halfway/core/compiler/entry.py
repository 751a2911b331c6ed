"""The entry point of a kernel, by which Python calls machine code directly, without numba's search
by type.

The dispatcher of numba searches the machine code by the types of the arguments on each call. If a
caller always passes the same types, this search takes longer than a whole handler.
"""

from collections.abc import Callable
from typing import Any

from numba import typeof


def entry_point(function: Callable[..., Any], *arguments: Any) -> Callable[..., Any]:
    """Compile a kernel for the types of these arguments, or load it; return its entry point.

    The entry point takes arguments of exactly these types: a Python integer in place of an integer,
    and a `Lent` or a `Door` of the same types. The entry point of an interpreted function is the
    function itself.
    """
    kernel: Any = function
    if not hasattr(kernel, "py_func"):
        return function
    kinds = tuple(typeof(argument) for argument in arguments)
    if kinds not in kernel.overloads:
        kernel.compile(kinds)
    address: Callable[..., Any] = kernel.overloads[kinds].entry_point
    return address
