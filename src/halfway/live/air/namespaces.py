"""Network namespaces without names. A namespace exists as long as a process holds it open.

So nothing is left over after an interrupt or a SIGKILL, and no mount is needed: `unshare -rn` is
enough for a user who is not root. A thread enters a namespace, opens a socket there, and comes
back; the socket stays in the namespace.
"""

import array
import contextlib
import ctypes
import fcntl
import os
import shutil
import socket
import struct
import subprocess
from collections.abc import Iterator, Sequence

from halfway.problem import Problem

_CLONE_NEWNET = 0x4000_0000
_OWN = "/proc/thread-self/ns/net"
_ETHTOOL, _SET_CHECKSUMS = 0x8946, 0x17  # SIOCETHTOOL, ETHTOOL_STXCSUM
_TOOLS = {"ip": "iproute2", "bridge": "iproute2", "nft": "nftables"}  # program -> Debian's package
_NO_NAMESPACES = "this system has no network namespaces"
_AS_ROOT = "run the command as root, or in `unshare -rn` where users may make namespaces"


class Namespace:
    """A network namespace, used as `with Namespace() as one`; `close` releases it.

    Raises Problem if this process may not make a namespace.
    """

    def __init__(self) -> None:
        home = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
        try:
            if _libc().unshare(_CLONE_NEWNET):
                raise _refused(ctypes.get_errno())
            self.fd = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
            _enter(home)
        finally:
            os.close(home)

    def __enter__(self) -> "Namespace":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the namespace; it ends with the last socket and process in it."""
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1

    @property
    def path(self) -> str:
        """The path by which other programs of this user enter the namespace."""
        return f"/proc/{os.getpid()}/fd/{self.fd}"

    @contextlib.contextmanager
    def inside(self) -> Iterator[None]:
        """Move the calling thread into the namespace: sockets and processes are created there."""
        home = os.open(_OWN, os.O_RDONLY | os.O_CLOEXEC)
        try:
            _enter(self.fd)
            try:
                yield
            finally:
                _enter(home)
        finally:
            os.close(home)

    def run(self, command: Sequence[str], lines: Sequence[str]) -> str:
        """Run a program in the namespace with lines on its stdin; return its output.

        Raises Problem with its first error.
        """
        with self.inside():
            done = subprocess.run(
                command, input="\n".join(lines) + "\n", text=True, capture_output=True, check=False
            )
        if done.returncode:
            why = (done.stderr.strip().splitlines() or ["no message"])[0]
            what = f"{command[0]} cannot set up the network of the air: {why}"
            raise Problem(
                what, remedy="run the command as root, on a kernel with network namespaces"
            )
        return done.stdout

    def socket(self, family: int, socket_type: int, protocol: int = 0) -> socket.socket:
        """Return a socket in the namespace."""
        with self.inside():
            return socket.socket(family, socket_type, protocol)


def complete_checksums(namespace: Namespace, interface: str) -> None:
    """Let the kernel complete the checksums of packets that leave a namespace by an interface.

    Otherwise the kernel leaves the checksum to the device, and a program between the nodes passes
    on a wrong checksum. Raises Problem if the interface refuses this setting.
    """
    value = array.array("I", (_SET_CHECKSUMS, 0))
    request = struct.pack("16sP", interface.encode(), value.buffer_info()[0])
    with contextlib.closing(namespace.socket(socket.AF_INET, socket.SOCK_DGRAM)) as sock:
        try:
            fcntl.ioctl(sock, _ETHTOOL, request.ljust(40, b"\0"))
        except OSError as error:
            what = (
                f"{interface}: cannot switch off the checksums of this network device: "
                f"{error.strerror}"
            )
            raise Problem(what, remedy="use a Linux kernel with veth devices") from None


def check_tools() -> None:
    """Raise Problem if a program that the air needs is missing, with the package to install."""
    for tool, package in _TOOLS.items():
        if shutil.which(tool) is None:
            remedy = f"install the program: apt-get install {package}"
            raise Problem(f"the program `{tool}` is missing", remedy=remedy)


def why_not() -> tuple[str, str]:
    """Return the reason why this process cannot create an air, and a remedy; two empty texts if it
    can.
    """
    try:
        check_tools()
        with Namespace() as namespace:
            trial = ["link add q0 type veth peer name q1", "link add b0 type bridge"]
            namespace.run(["ip", "-batch", "-"], trial)
            namespace.run(["nft", "-f", "-"], ["add table bridge air"])
    except Problem as problem:
        return problem.what, problem.remedy or _AS_ROOT
    return "", ""


def _refused(error: int) -> Problem:
    what = f"cannot make a network namespace: {os.strerror(error).lower()}"
    return Problem(what, remedy=_AS_ROOT)


def _enter(fd: int) -> None:
    if _libc().setns(fd, _CLONE_NEWNET):
        raise _refused(ctypes.get_errno())


def _libc() -> ctypes.CDLL:
    try:
        libc = ctypes.CDLL(None, use_errno=True)
    except (OSError, TypeError):
        raise Problem(_NO_NAMESPACES, remedy="use Linux") from None
    if not (hasattr(libc, "setns") and hasattr(libc, "unshare")):
        raise Problem(_NO_NAMESPACES, remedy="use Linux")
    return libc
