"""This package on the workers of a cluster: sent as one file, unpacked once a machine and user.

Imported from the file itself it would work, and compile every kernel anew in every application:
numba's cache goes by where a source lies, and Spark puts the file elsewhere each time.
"""

import atexit
import hashlib
import os
import shutil
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

import halfway

ARCHIVE = "halfway.zip"
_KEPT = 4  # unpacked packages, as many as compile caches
_EPOCH = (1980, 1, 1, 0, 0, 0)  # equal sources make equal archives, whenever they were packed


def packed(folder: Path) -> Path:
    """This package as an archive in `folder`, for workers that do not have it installed."""
    root = Path(halfway.__file__).parent
    target = folder / ARCHIVE
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                entry = zipfile.ZipInfo(f"halfway/{path.relative_to(root).as_posix()}", _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())
    return target


def settle() -> None:
    """Import what is imported from now on from an unpacked copy, where we came in an archive.

    To be called before anything that is compiled is imported. Does nothing elsewhere.
    """
    archive = getattr(halfway.__loader__, "archive", "")
    if not archive or not halfway.__path__[0].startswith(archive):
        return
    here = unpacked(Path(archive))
    for name, module in list(sys.modules.items()):
        if name.split(".", 1)[0] == "halfway" and hasattr(module, "__path__"):
            module.__path__ = [str(here.joinpath(*name.split(".")))]
    sys.path.insert(0, str(here))


def unpacked(archive: Path) -> Path:
    """The folder that holds what is in the archive; it is made by whoever asks first."""
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()[:16]
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        shelf = home / "halfway-shipped"
        shelf.mkdir(parents=True, exist_ok=True)
        beside = Path(tempfile.mkdtemp(prefix=f".{digest}-", dir=shelf))
    except (OSError, RuntimeError):  # a read-only home, or none
        # A folder of a known name could be another user's, and code in it would be run.
        beside = shelf = Path(tempfile.mkdtemp(prefix="halfway-shipped-"))
        atexit.register(shutil.rmtree, shelf, ignore_errors=True)
    target = shelf / digest
    if target.exists():
        beside.rmdir()
        with suppress(OSError):
            os.utime(target)
        return target
    try:
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(beside)
    except BaseException:  # half a package, where the disk is full
        shutil.rmtree(beside, ignore_errors=True)
        raise
    if beside == shelf:
        return beside
    with suppress(OSError):  # another process of ours was first
        beside.rename(target)
    shutil.rmtree(beside, ignore_errors=True)
    _forget_old(shelf)
    return target


def _forget_old(shelf: Path) -> None:
    with suppress(OSError):
        folders = [path for path in shelf.iterdir() if not path.name.startswith(".")]
        folders.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in folders[_KEPT:]:
            shutil.rmtree(folder, ignore_errors=True)
