"""The table of a command's output on a terminal: one heading line, no frame."""

from collections.abc import Collection

from rich import box
from rich.table import Table


def plain_table(*columns: str, numbers: Collection[str], is_list: bool = False) -> Table:
    """Return an empty table for a command's output, with these columns; the columns in `numbers`
    are right-aligned.

    is_list: the first column holds names, which are never wrapped, and columns are closer.
    """
    padding = (0, 1, 0, 0) if is_list else (0, 1)
    table = Table(box=box.SIMPLE_HEAD, show_edge=not is_list, pad_edge=False, padding=padding)
    for place, name in enumerate(columns):
        table.add_column(
            name,
            justify="right" if name in numbers else "left",
            no_wrap=is_list and place == 0,
            overflow="fold",
        )
    return table
