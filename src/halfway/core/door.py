"""The door to a node: compiled drivers call a protocol's handler by its address.

A driver is compiled once for all protocols. A handler is compiled alone, once for the types of its
state. A door joins driver and handler at run time: the door holds the address of the handler's
machine code and the address of its lent state. The simulator's engine and a live node enter by the
same door. All rows that receive a record at the same time enter by one call.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.extending import (
    NativeValue,
    lower_builtin,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.core.typing import signature
from numba.core.typing.templates import AbstractTemplate, infer_global

from halfway.core.compiled import entered, kernel
from halfway.core.compiler.lent import AddressesType, Lent, lent, pointer_in
from halfway.core.handler import handle
from halfway.core.message import RECORD

_VOID = types.none
_ROW = types.uint32
_ROWS: Any = numba.types.CPointer(_ROW)
_RECORD = numba.from_dtype(RECORD)


class HandlerArguments(NamedTuple):
    """The arguments of a handler behind a door: state, rules, neighbourhood and outbox."""

    state: Any
    rules: Any
    neighbourhood: Any
    out: Any


@entered
def _step(node, rows, count, message):
    """Let the first `count` rows handle a record through their door, and note in the outbox which
    row emitted which record.
    """
    out = node.out
    before = out.tally[0]
    for k in range(count):
        row = rows[k]
        handle(node.state, node.rules, node.neighbourhood, row, message, out)
        while before > out.tally[0]:
            before -= 1
            out.row[out.free[np.uint32(before)]] = row


class Door:
    """The door to the nodes of a state: the address of their handler, and its arguments, kept
    alive.

    lend: the function `lent`, or a `Lender` of a caller that opens many doors to the same state.
    Opening a door compiles the handler, or loads it from the compile cache.
    """

    def __init__(
        self,
        state: Any,
        rules: Any,
        neighbourhood: Any,
        out: Any,
        lend: Callable[[Any], Any] = lent,
    ) -> None:
        self.node = lend(HandlerArguments(state, rules, neighbourhood, out))
        if isinstance(self.node, Lent):
            self.table, self.handler = self.node.address, _address(self.node.type)
            self.addresses = self.handler, self.table


def is_compiled(state: Any, rules: Any, neighbourhood: Any, out: Any) -> bool:
    """Return whether a door can open at once, because the compile cache has the machine code of the
    handler.

    Without numba the result is True, because a door then compiles nothing.
    """
    node = lent(HandlerArguments(state, rules, neighbourhood, out))
    if not isinstance(node, Lent):
        return True
    step: Any = _step
    args = _step_types(node.type)
    return args in step.overloads or step._cache.has(args, step.targetctx)


def _step_types(kind: Any) -> tuple[Any, ...]:
    return kind, _ROWS, types.intp, _RECORD


@cache
def _address(kind: Any) -> int:
    """Return the address of a handler's machine code for the argument types of a door."""
    args = _step_types(kind)
    step: Any = _step
    step.compile(args)
    made = step.overloads[args]
    address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    assert address, "the handler's machine code has no address"
    return int(address)


def enter(door: Any, i: Any, message: Any) -> None:
    """Let row i behind a door handle a message: an indirect call from compiled code, of a few ns.

    i: uint32. message: the record. Raises the errors of the handler.
    """
    node = door.node
    if isinstance(node, Lent):
        _enter(door, np.uint32(i), message)
    else:  # without numba, or in the interpreted twin
        enter_all(door, (i,), 1, message)


def enter_all(door: Any, rows: Any, count: Any, message: Any) -> None:
    """Let the first `count` rows of a list behind a door handle one record, by one call.

    Only compiled code calls this function; Python calls `enter`. rows: uint32 [count or more].
    message: the record; no handler changes it. Raises the errors of a handler.
    """
    _step(door.node, rows, count, message)


class _DoorType(AddressesType):
    """The numba type of all doors. The type does not depend on the protocol, so a state can hold a
    door.
    """

    count = 2

    def __init__(self) -> None:
        super().__init__(name="Door")


_DOOR = _DoorType()
_ADDRESS = types.voidptr
_WORD = ir.IntType(64)


@typeof_impl.register(Door)
def _type_of(_value: Door, _context: Any) -> _DoorType:
    return _DOOR


@register_model(_DoorType)
class _DoorModel(models.StructModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, [("handler", _ADDRESS), ("table", _ADDRESS)])


@unbox(_DoorType)
def _unbox(kind: _DoorType, value: Any, c: Any) -> NativeValue:
    made = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    made.handler = pointer_in(c, value, "handler")
    made.table = pointer_in(c, value, "table")
    return NativeValue(made._getvalue())


@infer_global(enter)
class _Enter(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(_VOID, _DOOR, _ROW, _RECORD) if len(args) == 3 and not kws else None


@infer_global(enter_all)
class _EnterAll(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return signature(_VOID, *args) if len(args) == 4 and not kws else None


@lower_builtin(enter, _DoorType, _ROW, types.Record)
def _lowered_enter(context: Any, builder: ir.IRBuilder, _sig: Any, args: Any) -> ir.Value:
    row = cgutils.alloca_once_value(builder, args[1])
    return _call(context, builder, args[0], [row, ir.Constant(_WORD, 1), args[2]])


@lower_builtin(enter_all, _DoorType, types.Array, types.Integer, types.Record)
def _lowered_enter_all(context: Any, builder: ir.IRBuilder, sig: Any, args: Any) -> ir.Value:
    rows = context.make_array(sig.args[1])(context, builder, args[1]).data
    count = context.cast(builder, args[2], sig.args[2], types.intp)
    return _call(context, builder, args[0], [rows, count, args[3]])


def _call(context: Any, builder: ir.IRBuilder, value: ir.Value, args: list[ir.Value]) -> ir.Value:
    """Emit the call of the handler behind a door. The other arguments are the arguments of
    `_step`.
    """
    door = cgutils.create_struct_proxy(_DOOR)(context, builder, value=value)
    convention = context.call_conv
    # Each lent tuple is a pointer, so the machine code of every handler has this type.
    kinds = _step_types(_ADDRESS)
    function = convention.get_function_type(_VOID, kinds)
    result, error = (cgutils.alloca_once(builder, pointer.pointee) for pointer in function.args[:2])
    packed = convention._get_arg_packer(kinds).as_arguments(builder, [door.table, *args])
    code = builder.call(
        builder.bitcast(door.handler, function.as_pointer()), [result, error, *packed]
    )
    status = convention._get_return_status(builder, code, builder.load(error))
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return context.get_dummy_value()


@kernel
def _enter(door, i, message):
    enter(door, i, message)
