"""The shipping of this package to the workers of a Spark cluster: one archive, unpacked once per
machine and user.

Importing from the archive would compile every kernel in every application, because numba keys its
cache by the path of a source, and Spark changes the archive's path each time.
`docs/decisions/0024` has the reasons.
"""

import atexit
import os
import shutil
import sys
import tempfile
import zipfile
from contextlib import suppress
from pathlib import Path

from halfway.core.values.digest import short_digest
from halfway.package import PACKAGE_FOLDER

ARCHIVE = "halfway.zip"
_KEPT = 4  # unpacked packages, as many as compile caches
_EPOCH = (1980, 1, 1, 0, 0, 0)  # so that equal sources make equal archives


def packed(folder: Path) -> Path:
    """Write this package as an archive to `folder`, shipped to workers without the package."""
    target = folder / ARCHIVE
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(PACKAGE_FOLDER.rglob("*")):
            if path.is_file() and "__pycache__" not in path.parts:
                name = path.relative_to(PACKAGE_FOLDER.parent).as_posix()
                entry = zipfile.ZipInfo(name, _EPOCH)
                entry.compress_type = zipfile.ZIP_DEFLATED
                archive.writestr(entry, path.read_bytes())
    return target


def use_unpacked_copy() -> None:
    """Unpack the shipped archive that this package was imported from, and import from the copy.

    Call this before importing a compiled module. Does nothing without an archive.
    """
    root = sys.modules["halfway"]
    archive = getattr(root.__loader__, "archive", "")
    if not archive or not root.__path__[0].startswith(archive):
        return
    here = unpacked(Path(archive))
    for name, module in list(sys.modules.items()):
        if name.split(".", 1)[0] == "halfway" and hasattr(module, "__path__"):
            module.__path__ = [str(here.joinpath(*name.split(".")))]
    sys.path.insert(0, str(here))


def unpacked(archive: Path) -> Path:
    """Return the folder of the unpacked package; the first call on a machine unpacks it."""
    digest = short_digest(archive.read_bytes())
    try:
        home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
        cache = home / "halfway-shipped"
        cache.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{digest}-", dir=cache))
    except (OSError, RuntimeError):  # a read-only home, or none
        # A folder with a predictable name could be another user's, with foreign code.
        temporary = cache = Path(tempfile.mkdtemp(prefix="halfway-shipped-"))
        atexit.register(shutil.rmtree, cache, ignore_errors=True)
    target = cache / digest
    if target.exists():
        temporary.rmdir()
        with suppress(OSError):
            os.utime(target)
        return target
    try:
        with zipfile.ZipFile(archive) as opened:
            opened.extractall(temporary)
    except BaseException:  # an incomplete package, such as on a full disk
        shutil.rmtree(temporary, ignore_errors=True)
        raise
    if temporary == cache:
        return temporary
    with suppress(OSError):  # another process was faster
        temporary.rename(target)
    shutil.rmtree(temporary, ignore_errors=True)
    _delete_old(cache)
    return target


def _delete_old(cache: Path) -> None:
    with suppress(OSError):
        folders = [path for path in cache.iterdir() if not path.name.startswith(".")]
        folders.sort(key=lambda folder: folder.stat().st_mtime, reverse=True)
        for folder in folders[_KEPT:]:
            shutil.rmtree(folder, ignore_errors=True)
