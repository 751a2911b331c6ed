"""Rows as pandas frames, for notebooks. No other module uses pandas."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["DataFrame", "frame"]  # the former for annotations only


def frame(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> "DataFrame":
    """Return a pandas frame with one row per mapping; it has these columns even without rows."""
    from pandas import DataFrame

    return DataFrame(list(rows), columns=list(columns))
