"""Quick access to the fields of records in interpreted code.

Numpy finds a field of a `numpy.record` in Python, after a search for an attribute that fails. An
interpreted handler spends most of its time in these searches.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np

_read: Any = np.void.__getitem__
_write: Any = np.void.__setitem__
_write_slowly: Any = np.record.__setattr__


def quicken(fields: Iterable[str]) -> None:
    """Make access to all fields of numpy's records quicker, and quickest to the named fields.

    The values, types and errors stay the same.
    """
    record: Any = np.record
    if "__getattribute__" not in vars(record):
        return
    for name in fields:
        if not hasattr(np.void, name):  # such as `flags`, which is an attribute of numpy's scalars
            setattr(record, name, _property(name))
    record.__setattr__ = write_field
    record.__getattr__ = read_field
    del record.__getattribute__


def read_field(record: Any, name: str) -> Any:
    """Return the value of a record's field. Raises AttributeError if there is none."""
    try:
        return np.record.__getitem__(record, name)
    except ValueError:
        raise AttributeError(f"'record' object has no attribute '{name}'") from None


def write_field(record: Any, name: str, value: Any) -> None:
    """Set a record's field. Raises AttributeError if there is none."""
    try:
        _write(record, name, value)
    except ValueError:
        _write_slowly(record, name, value)


def _property(name: str) -> property:
    def read(record: Any) -> Any:
        try:
            return _read(record, name)
        except ValueError:  # another kind of record
            return read_field(record, name)

    return property(read)
