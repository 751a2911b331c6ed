"""Lent tuples: compiled code reads a NamedTuple of arrays and numbers through one pointer.

A NamedTuple of thirty arrays is two hundred machine words. Numba passes it by value, unpacks each
word in each function, and counts references to each array. A lent tuple is the address of a table:
for each array its data and its shape, for each number its value. A function receives the address,
and reads an entry of the table where it uses a field. No reference is counted.

The lender keeps the arrays alive for as long as compiled code may use the address, and changes no
entry of the table during a call. So the compiler may assume that an entry never changes. Compiled
code must not return a field, or store it in an object.
"""

import hashlib
from functools import cache
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils
from numba.core import types as numba_types
from numba.core.extending import (
    NativeValue,
    lower_getattr_generic,
    models,
    register_model,
    typeof_impl,
    unbox,
)
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.np.arrayobj import populate_array
from numba.np.numpy_support import as_dtype

from halfway.core.compiler.quick_records import quick

types: Any = numba_types
_WORD, _POINTER = ir.IntType(64), ir.IntType(8).as_pointer()


class Lent:
    """A lent NamedTuple with the table that compiled code reads; the object keeps all arrays of the
    table alive.
    """

    def __init__(self, value: Any) -> None:
        entries: list[int] = []
        self.value = value
        self.type = _lent_type(_noted(value, entries))
        self.table = np.array(entries, np.int64)
        self.address = self.table.ctypes.data


def lent(value: Any) -> Any:
    """Lend a NamedTuple to compiled code; where numba is disabled, return a tuple for interpreted
    code with the same arrays.

    Raises TypeError if a field is neither an array, a number, a tuple of them, nor an object that
    consists of addresses.
    """
    return quick(value) if numba.config.DISABLE_JIT else Lent(value)


class Lender:
    """A function like `lent` with a memory: for each class, it keeps the last tuple that it
    lent.
    """

    def __init__(self) -> None:
        self._last: dict[type, Any] = {}

    def __call__(self, value: Any) -> Any:
        """Lend a NamedTuple to compiled code; the same objects as in the last call of the lender
        get the same table.
        """
        if numba.config.DISABLE_JIT:
            return quick(value)
        last = self._last.get(type(value))
        if last is None or any(old is not new for old, new in zip(last.value, value, strict=True)):
            last = self._last[type(value)] = Lent(value)
        return last


def _noted(value: Any, entries: list[int]) -> Any:
    """Append the entries of a lent value to a table; return the numba type of the value."""
    if isinstance(value, np.ndarray):
        # The array interface also has a list of all fields, which takes six times as long to make.
        entries.append(value.ctypes.data)
        entries += value.shape
        entries += value.strides
        flags = value.flags
        return _array_type(value.dtype, value.ndim, flags.c_contiguous, flags.writeable)
    if isinstance(value, tuple):
        inner = tuple(_noted(part, entries) for part in value)
        return _tuple_type(type(value), inner)
    kind = numba.typeof(value)
    if isinstance(kind, AddressesType):
        entries += value.addresses
        return kind
    if isinstance(kind, types.Float):
        entries.append(int(np.float64(value).view(np.int64)))
    elif isinstance(kind, types.Integer | types.Boolean):
        entries.append((int(value) + 2**63) % 2**64 - 2**63)
    else:
        raise TypeError(f"{kind} cannot be lent: expected arrays, numbers and tuples of them")
    return kind


@cache
def _array_type(dtype: np.dtype[Any], ndim: int, contiguous: bool, writeable: bool) -> Any:
    inner = numba.from_dtype(dtype)
    return types.Array(inner, ndim, "C" if contiguous else "A", readonly=not writeable)


@cache
def _tuple_type(made: type, inner: tuple[Any, ...]) -> Any:
    return types.NamedTuple(inner, made) if hasattr(made, "_fields") else types.Tuple(inner)


@cache
def _lent_type(of: Any) -> "LentType":
    return LentType(of)


class AddressesType(numba_types.Type):
    """The numba type of a Python object whose attribute `addresses` holds machine addresses.

    The data model of the type has one pointer for each address, in the same order.
    """

    count: int


def _size(kind: Any) -> int:
    """Return the number of entries in the table of a lent tuple."""
    if isinstance(kind, AddressesType):
        return kind.count
    if isinstance(kind, types.BaseTuple):
        return sum(map(_size, kind))
    return 1 + 2 * kind.ndim if isinstance(kind, types.Array) else 1


class LentType(numba_types.Type):
    """The numba type of a lent NamedTuple."""

    def __init__(self, of: Any) -> None:
        self.of = of
        made = self.instance_class = of.instance_class
        # The name is part of the name of each function with such an argument, so it must be short.
        digest = hashlib.sha256(f"{made.__module__} {of.name}".encode()).hexdigest()[:16]
        super().__init__(name=f"Lent({made.__name__} {digest})")

    @property
    def key(self) -> Any:
        """The identity of the type of a lent tuple."""
        return self.of

    def __hash__(self) -> int:
        # Numba looks the type up at each call: the hash of `key` visits the types of all fields.
        return hash(self.name)

    @property
    def types(self) -> tuple[Any, ...]:
        """The types of the lent tuple's fields."""
        return tuple(self.of)


@register_model(LentType)
class _LentModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        super().__init__(manager, kind, ir.IntType(8).as_pointer())


@typeof_impl.register(Lent)
def _type_of(value: Lent, _context: Any) -> LentType:
    return value.type


@unbox(LentType)
def _unbox(_kind: LentType, value: Any, c: Any) -> NativeValue:
    return NativeValue(pointer_in(c, value, "address"))


def pointer_in(c: Any, value: Any, name: str) -> Any:
    """Emit code that reads a machine address from an attribute of an unboxed Python object."""
    attribute = c.pyapi.object_getattr_string(value, name)
    pointer = c.pyapi.long_as_voidptr(attribute)
    c.pyapi.decref(attribute)
    return pointer


@infer_getattr
class _LentAttribute(AttributeTemplate):
    key = LentType

    def generic_resolve(self, kind: LentType, name: str) -> Any:
        if name not in kind.of.fields:
            return None
        field = kind.of.types[kind.of.fields.index(name)]
        return _lent_type(field) if isinstance(field, types.BaseNamedTuple) else field


@lower_getattr_generic(LentType)
def _lowered_attribute(
    context: Any, builder: ir.IRBuilder, kind: LentType, pointer: ir.Value, name: str
) -> ir.Value:
    place = kind.of.fields.index(name)
    before = sum(map(_size, kind.of.types[:place]))
    field = kind.of.types[place]
    at = builder.gep(builder.bitcast(pointer, _WORD.as_pointer()), [ir.Constant(_WORD, before)])
    if isinstance(field, types.BaseNamedTuple):
        return builder.bitcast(at, pointer.type)
    return _read(context, builder, field, at)


def _read(context: Any, builder: ir.IRBuilder, kind: Any, at: ir.Value) -> ir.Value:
    """Emit code that reads a field of a lent tuple from the table."""
    if isinstance(kind, types.BaseTuple):
        parts, place = [], 0
        for inner in kind:
            there = builder.gep(at, [ir.Constant(_WORD, place)])
            parts.append(_read(context, builder, inner, there))
            place += _size(inner)
        return context.make_tuple(builder, kind, parts)
    if isinstance(kind, AddressesType):
        made = cgutils.create_struct_proxy(kind)(context, builder)
        for place in range(kind.count):
            made[place] = builder.inttoptr(_entry(builder, at, place), _POINTER)
        return made._getvalue()
    word = _entry(builder, at, 0)
    if isinstance(kind, types.Array):
        return _array(context, builder, kind, at, word)
    value_type = context.get_value_type(kind)
    if isinstance(kind, types.Float):
        number = builder.bitcast(word, ir.DoubleType())
        return number if kind.bitwidth == 64 else builder.fptrunc(number, value_type)
    return word if value_type == _WORD else builder.trunc(word, value_type)


@cache
def _item_size(dtype: Any) -> int:
    """Return the bytes of an item of a lent array; numba would ask LLVM at each use."""
    return int(as_dtype(dtype).itemsize)


def _array(
    context: Any, builder: ir.IRBuilder, kind: Any, at: ir.Value, word: ir.Value
) -> ir.Value:
    size = _item_size(kind.dtype)
    shape = [_entry(builder, at, 1 + axis) for axis in range(kind.ndim)]
    if kind.layout == "C":  # strides are known to the compiler
        strides: list[ir.Value] = [ir.Constant(_WORD, size)]
        for length in shape[:0:-1]:
            strides.insert(0, builder.mul(strides[0], length))
    else:
        strides = [_entry(builder, at, 1 + kind.ndim + axis) for axis in range(kind.ndim)]
    array = context.make_array(kind)(context, builder)
    data = builder.inttoptr(word, context.get_data_type(kind.dtype).as_pointer())
    populate_array(array, data, shape, strides, size, meminfo=None, parent=None)
    return array._getvalue()


def _entry(builder: ir.IRBuilder, at: ir.Value, place: int) -> ir.Value:
    """Emit code that reads one table entry of a lent tuple; entries never change while the code
    runs.
    """
    word = builder.load(builder.gep(at, [ir.Constant(_WORD, place)]))
    word.set_metadata("invariant.load", builder.module.add_metadata([]))
    return word
