"""The checks of `halfway doctor` on the network: sockets, multicast, control socket, namespaces."""

import contextlib
import socket

from halfway.live.addresses import LOOPBACK
from halfway.live.air.namespaces import why_not
from halfway.live.control.places import folder, running
from halfway.live.doctor.finding import Finding, failed, note, ok
from halfway.live.limits import DEFAULT
from halfway.live.link.endpoint import BUFFER, bound, group_socket, send_to_groups
from halfway.live.runtime.settings import GROUP

_WAIT_S = 1.0


def sockets() -> Finding:
    """Check the network's sockets for `halfway doctor`: send a full datagram over loopback, and
    read the buffer that the kernel grants.
    """
    name = "sockets"
    with contextlib.closing(bound(LOOPBACK, 0)) as sock:
        sock.settimeout(_WAIT_S)
        sock.sendto(b"\0" * DEFAULT.mtu, sock.getsockname())
        try:
            sock.recv(DEFAULT.mtu)
        except TimeoutError:
            return failed(name, "a datagram to loopback does not arrive", "allow UDP on loopback")
        # Linux adds its own overhead, and reports twice the granted size.
        granted = sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2
    if granted < BUFFER:
        text = f"UDP works; the kernel keeps {granted >> 10} KiB a socket, and drops above it"
        return note(name, text, f"as root: sysctl -w net.core.rmem_max={BUFFER}")
    return ok(name, f"UDP works; the kernel keeps {granted >> 10} KiB a socket")


def multicast() -> Finding:
    """Check the network's multicast for `halfway doctor`: send a datagram to the discovery group on
    loopback, and receive it.
    """
    name = "multicast"
    do = "name the other nodes with --peer HOST:PORT"
    try:
        with (
            contextlib.closing(bound(LOOPBACK, 0)) as sender,
            contextlib.closing(group_socket(GROUP, LOOPBACK)) as heard,
        ):
            send_to_groups(sender, LOOPBACK)
            heard.settimeout(_WAIT_S)
            sender.sendto(b"halfway doctor", GROUP)
            source = None
            while source != sender.getsockname():  # a running node uses the group as well
                source = heard.recvfrom(2048)[1]
    except OSError as error:
        why = "a datagram does not arrive" if isinstance(error, TimeoutError) else error.strerror
        return note(name, f"nodes on this machine do not find each other: {why}", do)
    return ok(name, f"nodes on this machine find each other ({GROUP[0]}, port {GROUP[1]})")


def control() -> Finding:
    """Check the control sockets and their folder for `halfway doctor`, and list the running
    nodes.
    """
    where, names = folder(), [place.name for place in running()]
    return ok("commands", f"{where}; running: {', '.join(names) or 'no node'}")


def namespaces() -> Finding:
    """Check for `halfway doctor` whether it can create a network namespace, which `halfway testbed`
    needs.
    """
    why, do = why_not()
    if why:
        return note("namespaces", f"`halfway testbed` does not run on this machine: {why}", do)
    return ok("namespaces", "`halfway testbed` can make network namespaces")
