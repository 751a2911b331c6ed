"""Rows as pandas frames, for notebooks: this room alone knows pandas."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["DataFrame", "frame"]  # the former for annotations only


def frame(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> "DataFrame":
    """One row a mapping; `columns` holds even where there are no rows."""
    from pandas import DataFrame

    return DataFrame(list(rows), columns=list(columns))
