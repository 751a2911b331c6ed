"""Reading of user files: bytes (unpacked from .gz) or UTF-8 text, or a Problem with the reason."""

import gzip
import zlib
from pathlib import Path

from halfway.problem import Problem


def content(path: Path) -> bytes:
    """Return the bytes of a user's file, unpacked if it is .gz; raises Problem if unreadable."""
    if path.is_dir():
        raise Problem("this is a directory: expected a file", where=str(path))
    try:
        data = path.read_bytes()
        if path.suffix.lower() == ".gz":
            data = gzip.decompress(data) if data else b""
    except FileNotFoundError:
        raise Problem("no such file", where=str(path)) from None
    except EOFError:
        raise Problem("the compressed file is truncated", where=str(path)) from None
    except (gzip.BadGzipFile, zlib.error) as error:
        raise Problem(f"expected a valid gzip file ({error})", where=str(path)) from None
    except OSError as error:
        raise Problem(
            f"the file cannot be read ({error.strerror or error})", where=str(path)
        ) from None
    except MemoryError:
        raise Problem("the file does not fit into memory", where=str(path)) from None
    if not data.strip():
        raise Problem("the file is empty", where=str(path))
    return data


def text(path: Path) -> str:
    """Return the content of a user's UTF-8 file as text; raises Problem if it is binary."""
    data = content(path)
    try:
        found = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _binary(path, data, error.start) from None
    if "\0" in found:
        raise _binary(path, data, data.index(b"\0"))
    if not found.strip():  # only a byte order mark
        raise Problem("the file is empty", where=str(path))
    return found


def _binary(path: Path, data: bytes, offset: int) -> Problem:
    line = data.count(b"\n", 0, offset) + 1
    column = offset - (data.rfind(b"\n", 0, offset) + 1) + 1
    return Problem("expected a text file in UTF-8", where=f"{path}:{line}:{column}")
