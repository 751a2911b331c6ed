"""Reading of user files: bytes (unpacked from .gz) or UTF-8 text, or a Problem with the reason."""

import gzip
import io
import zlib
from pathlib import Path

from halfway.files import read_limited
from halfway.problem import Problem, reason_of

_MOST_BYTES = 1_000_000_000  # of a file, packed and unpacked


def content(path: Path) -> bytes:
    """Return the content of a user's file of at most 1 GB as bytes, unpacked if it is .gz.

    Raises Problem if the file is unreadable, empty, too large, or not a regular file.
    """
    try:
        data = read_limited(path, _MOST_BYTES)
        if path.suffix.lower() == ".gz":
            data = _unpacked(path, data)
    except FileNotFoundError:
        raise Problem("no such file", where=str(path), remedy="check the path") from None
    except EOFError:
        what = "the compressed file is truncated"
        raise Problem(what, where=str(path), remedy="download or compress the file again") from None
    except (gzip.BadGzipFile, zlib.error):
        remedy = "compress the file again, or remove .gz from the name of an uncompressed file"
        raise Problem("expected a valid gzip file", where=str(path), remedy=remedy) from None
    except OSError as error:
        what = f"the file cannot be read: {reason_of(error)}"
        raise Problem(what, where=str(path), remedy="name a file that you can read") from None
    except MemoryError:
        what = "the file does not fit into memory"
        raise Problem(what, where=str(path), remedy="use a smaller file") from None
    if not data.strip():
        raise _empty(path)
    return data


def _unpacked(path: Path, data: bytes) -> bytes:
    with gzip.GzipFile(fileobj=io.BytesIO(data)) as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        what = (
            f"the file is too large: expected at most {_MOST_BYTES / 1e6:,.0f} MB after unpacking"
        )
        raise Problem(what, where=str(path))
    return content


def text(path: Path) -> str:
    """Return the content of a user's UTF-8 file as text; raises Problem if it is binary."""
    data = content(path)
    try:
        decoded = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _binary(path, data, error.start) from None
    if "\0" in decoded:
        raise _binary(path, data, data.index(b"\0"))
    if not decoded.strip():  # only a byte order mark
        raise _empty(path)
    return decoded


def _empty(path: Path) -> Problem:
    return Problem("the file is empty: expected content", where=str(path))


def _binary(path: Path, data: bytes, offset: int) -> Problem:
    line = data.count(b"\n", 0, offset) + 1
    column = offset - (data.rfind(b"\n", 0, offset) + 1) + 1
    return Problem("expected a text file in UTF-8", where=f"{path}:{line}:{column}")
