"""Rows of a sweep as pandas frames, for notebooks."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["DataFrame", "frame", "table"]  # the first for annotations only


def frame(rows: Iterable[Mapping[str, object]], columns: Sequence[str]) -> "DataFrame":
    """Return a pandas frame with one row per mapping; it has these columns even without rows."""
    from pandas import DataFrame

    return DataFrame(list(rows), columns=list(columns))


def table(
    index: Sequence[str],
    name: str,
    columns: Mapping[Any, Sequence[float]],
    levels: Sequence[str | None],
) -> "DataFrame":
    """Return a pandas frame of numbers; the heads of its columns have one or more levels.

    index: names of the rows, under `name`; columns: head (a tuple) -> a number for each row;
    levels: names of the levels.
    """
    from pandas import DataFrame, Index, MultiIndex

    made = DataFrame(dict(enumerate(columns.values())), index=Index(list(index), name=name))
    heads = list(columns)
    if len(levels) > 1:
        made.columns = MultiIndex.from_tuples(heads, names=list(levels))
    else:
        made.columns = Index([head[0] for head in heads], name=levels[0])
    return made
