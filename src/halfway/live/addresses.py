"""Addresses on which a node listens: their form, and the reasons why an address is not
available.
"""

import errno
from functools import lru_cache
from ipaddress import ip_address

from halfway.live.security import Address
from halfway.problem import Problem

LOOPBACK = "127.0.0.1"


def is_loopback(address: Address) -> bool:
    """Return whether a listening address can be reached from this machine only."""
    return _is_loopback(address[0])


@lru_cache(maxsize=256)
def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def listening_address(field: str, text: str) -> Address:
    """Return the address written as "[HOST:]PORT"; the default host is loopback.

    field: the name of the option in the error. Raises Problem for anything else.
    """
    host, _, port = text.rpartition(":")
    host = host.strip("[]") or LOOPBACK
    try:
        ip_address(host)
    except ValueError:
        what = f"{field} = {text}: expected [HOST:]PORT with a numeric address as HOST"
        raise Problem(what, remedy=f"write the address as 1883 or {LOOPBACK}:1883") from None
    if not (port.isascii() and port.isdigit() and int(port) < 2**16):
        what = f"{field} = {text}: expected a port from 0 to 65535"
        raise Problem(what, remedy="choose another port, or 0 for any free port")
    return host, int(port)


def unavailable(field: str, value: object, error: OSError) -> Problem:
    """Return the problem of an address on which the operating system lets nothing listen."""
    if error.errno == errno.EADDRINUSE:
        what, remedy = "another program uses this port", "choose another port, or 0 for any"
    elif error.errno == errno.EACCES:
        what, remedy = "not permitted", "choose a port above 1023, or 0 for any"
    else:
        what = (error.strerror or str(error)).lower()
        remedy = "choose an address of this machine"
    return Problem(f"{field} = {value}: {what}", remedy=remedy)


def shown(address: Address) -> str:
    """Return a listening address as text, such as 127.0.0.1:1883 or [::1]:1883."""
    host, port = address
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
