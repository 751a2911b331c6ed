"""The text table of a file: rows of CSV with a header, or of columns between blanks."""

import csv
import io
import math
import re
from pathlib import Path

from halfway.problem import Problem
from halfway.world.importers.file_content import text

_COMMENTS = ("#", "%")
_DECIMAL_COMMA = re.compile(r"^([+-]?[0-9]*),([0-9]+(?:[eE][+-]?[0-9]+)?)$")
_SEPARATORS = (",", ";", "\t", "|", " ")
_BRACKETS = (("(", ")"), ("[", "]"), ("{", "}"))
_THOUSANDS = re.compile(r"[+-]?[1-9][0-9]{0,2},[0-9]{3}$")


class TextTable:
    """The rows of a text table with line numbers; errors name file:line:column."""

    def __init__(
        self, path: Path, columns: list[str], rows: list[tuple[int, list[str]]], separator: str = ""
    ) -> None:
        self.path, self.columns, self.rows, self.separator = path, columns, rows, separator

    def column(self, name: str) -> int:
        """Return the index of a text table's column; raises Problem with the existing ones."""
        if name not in self.columns:
            remedy = f"columns: {', '.join(self.columns)}"
            raise Problem(f"the file has no column '{name}'", where=str(self.path), remedy=remedy)
        return self.columns.index(name)

    def problem(self, what: str, line: int, column: int | None = None) -> Problem:
        """Return a Problem of a text table's line or field (columns count from 0)."""
        place = f"{self.path}:{line}" if column is None else f"{self.path}:{line}:{column + 1}"
        return Problem(what, where=place)

    def name(self, row: list[str], line: int, column: int) -> str:
        """Return the node id in a field of a text table."""
        return self.word(row, line, column, "the id of a node")

    def word(self, row: list[str], line: int, column: int, meaning: str) -> str:
        """Return the text in a field of a text table. meaning: of the text, for errors."""
        if not row[column].strip():
            raise self.problem(f"the field is empty: expected {meaning}", line, column)
        return row[column].strip()

    def finite_number(self, row: list[str], line: int, column: int) -> float:
        """Return a finite number of a text table, or NaN if the field is empty or missing.

        A single comma is a decimal comma. Where commas separate fields, "1,234" is not a number,
        because it may mean 1234.
        """
        field = row[column].strip() if column < len(row) else ""
        if not field:
            return math.nan
        unclear = self.separator == "," and _THOUSANDS.match(field)
        try:
            value = float(field if unclear else _DECIMAL_COMMA.sub(r"\1.\2", field))
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            name = self.columns[column]
            raise self.problem(f"column {name} = '{field[:40]}': expected a number", line, column)
        return value

    def quality(self, row: list[str], line: int, column: int) -> float:
        """Return a quality in a field of a text table as `number` does; "67%" is 0.67."""
        field = row[column].strip() if column < len(row) else ""
        if not field.endswith("%"):
            return self.finite_number(row, line, column)
        plain = [*row[:column], field[:-1], *row[column + 1 :]]
        return self.finite_number(plain, line, column) / 100.0


def csv_table(path: Path) -> TextTable:
    """Read a CSV file with a header as a text table; commas, semicolons or tabs separate fields."""
    body = text(path)
    header = body.lstrip("\r\n").split("\n", 1)[0]
    separator = next((sign for sign in ",;\t" if sign in header), ",")
    reader = csv.reader(io.StringIO(body, newline=""), delimiter=separator, strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader if row]
    except csv.Error as error:
        what, where = f"the line is not valid CSV: {error}", f"{path}:{reader.line_num}"
        raise Problem(what, where=where, remedy="check the quotation marks") from None
    columns = [name.strip() for name in rows[0][1]]
    if all(is_number(name) for name in columns):
        what = "the first line has only numbers: expected names of columns"
        remedy = "add a header, or name the file .txt if blanks separate its columns"
        raise Problem(what, where=f"{path}:{rows[0][0]}", remedy=remedy)
    table = TextTable(path, columns, rows[1:], separator)
    for line, row in table.rows:
        if len(row) != len(columns):
            what = f"the line has {len(row)} fields: expected {len(columns)}, as in the header"
            raise table.problem(what, line)
    return table


def blank_table(path: Path) -> TextTable:
    """Read a file without a header, of blanks or tabs, as a text table; columns are named 1, 2, 3…

    Lines that begin with # or % are comments. Values at the end of a line may be missing.
    """
    rows = [
        (line, words.split())
        for line, words in enumerate(io.StringIO(text(path)), start=1)
        if words.strip() and not words.lstrip().startswith(_COMMENTS)
    ]
    if not rows:
        raise Problem("the file contains only comments: expected lines of links", where=str(path))
    columns = [str(number + 1) for number in range(len(rows[0][1]))]
    table = TextTable(path, columns, rows)
    most = max(len(columns), 2)
    for line, row in rows:
        if not 2 <= len(row) <= most:
            number = "1 column" if len(row) == 1 else f"{len(row)} columns"
            what = f"the line has {number}: expected {'2' if most == 2 else f'2 to {most}'}"
            problem = table.problem(what, line)
            raise Problem(problem.what, where=problem.where, remedy=_on_blanks(row))
        _refuse_torn(table, row, line)
    return table


def _on_blanks(row: list[str]) -> str:
    """Return what to do about a line of a blank-separated table with a wrong number of columns."""
    if len(row) == 1 and any(sign in row[0] for sign in ",;"):
        return "for fields between commas or semicolons, name the file .csv, with a header"
    return "separate the columns by blanks; for names with blanks, write a .csv file with a header"


def _refuse_torn(table: TextTable, row: list[str], line: int) -> None:
    """Raise Problem for an end of a link that is a part of a name with blanks, such as "(0,"."""
    for column in (0, 1):
        word = row[column]
        if any(word.count(a) != word.count(b) for a, b in _BRACKETS) or word.count('"') % 2:
            what = f"column {column + 1} = '{word[:40]}': expected a name without blanks"
            problem = table.problem(what, line, column)
            remedy = 'write a .csv file with a header, with names in quotation marks: "(0, 1)"'
            raise Problem(problem.what, where=problem.where, remedy=remedy)


def one_column(table: TextTable) -> Problem:
    """Return a Problem of a text table that has only one column, and no room for a link."""
    header = table.columns[0]
    what = f"one column ({header[:40]}): expected two, for the ends of a link"
    sign = next((sign for sign in _SEPARATORS if sign in header), "")
    remedy = "separate the fields by commas, semicolons or tabs" if sign else "check the file"
    return Problem(what, where=str(table.path), remedy=remedy)


def is_number(word: str) -> bool:
    """Return whether a word of a text table is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True
