"""The folder of the control sockets, which only its user can write to."""

import contextlib
import os
import socket
import stat
import tempfile
from pathlib import Path
from typing import NamedTuple

from halfway.problem import Problem

_OURS = 0o700
_SUFFIX = ".sock"
FOLDER = "HALFWAY_RUN"  # an environment variable: another folder


class ControlSocket(NamedTuple):
    """A control socket: the name of the node that a client asks, and the path.

    is_named: whether requests name the node. Otherwise the first node of the process answers.
    """

    name: str
    path: Path
    is_named: bool = False


def folder() -> Path:
    """Return the folder of the control sockets; create it if it is missing.

    Raises Problem if another user owns it, or other users can write to it.
    """
    runtime = os.environ.get("XDG_RUNTIME_DIR")
    default = Path(runtime, "halfway") if runtime else _in_temporary()
    path = Path(os.environ.get(FOLDER) or default)
    try:
        path.mkdir(mode=_OURS, parents=True, exist_ok=True)
        known = path.stat()
    except OSError as error:
        what = f"no folder for control sockets: {(error.strerror or str(error)).lower()}"
        raise Problem(what, where=str(path), remedy=f"set {FOLDER} to another folder") from None
    if known.st_uid != os.getuid() or stat.S_IMODE(known.st_mode) & 0o022:
        what = "other users can write to the folder of control sockets"
        raise Problem(what, where=str(path), remedy=f"set {FOLDER} to a folder of your own")
    return path


def _in_temporary() -> Path:
    return Path(tempfile.gettempdir(), f"halfway-{os.getuid()}")


def path_for(name: str) -> Path:
    """Return the path in the folder of control sockets for a process name."""
    return folder() / f"{name}{_SUFFIX}"


def running() -> list[ControlSocket]:
    """Return the control sockets in the folder with a listening process, the oldest first.

    Sockets that a killed process left are removed.
    """
    places = []
    for path in folder().glob(f"*{_SUFFIX}"):
        with contextlib.suppress(OSError):
            known = path.stat()
            if answers(path):
                place = ControlSocket(path.name.removesuffix(_SUFFIX), path)
                places.append((known.st_mtime, place))
            elif path.stat().st_mtime_ns == known.st_mtime_ns:  # no new process has its name
                path.unlink()
    return [place for _, place in sorted(places)]


def answers(path: Path) -> bool:
    """Return whether a process listens on a control socket in the folder, even if it is stopped."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(1.0)
        try:
            sock.connect(str(path))
        except (TimeoutError, BlockingIOError):  # a stopped process, and a full queue before it
            return True
        except OSError:
            return False
    return True


def listening(path: Path) -> socket.socket:
    """Return a socket that listens on a path in the folder of control sockets. Raises OSError.

    The path appears when the socket listens, because `running` removes the paths of other sockets.
    """
    new = path.with_suffix(".new")
    new.unlink(missing_ok=True)
    sock = socket.socket(socket.AF_UNIX)
    try:
        sock.bind(str(new))
        new.chmod(0o600)
        sock.listen()
        new.rename(path)
    except OSError:
        sock.close()
        raise
    return sock
