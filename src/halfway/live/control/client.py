"""The client of control sockets, for commands such as `halfway pub` and `halfway status`."""

import contextlib
import socket
from collections.abc import Iterator

import msgspec

from halfway.live.control.control_requests import (
    ANSWERS,
    MOST_LINE,
    Answer,
    ControlRequest,
    RefusedAnswer,
    StatusAnswer,
    StatusRequest,
    line,
)
from halfway.live.control.places import ControlSocket, running
from halfway.problem import Problem

_CONNECT_S = 2.0
_FIND_S = 2.0  # for the answer of each process whether it has a node of a name
_READ = 1 << 16
NO_NODE = "no node is running for this user on this machine"
START_ONE = "start a node with `halfway node`"


def chosen(name: str = "") -> ControlSocket | None:
    """Return the control socket to which a client connects: that of the process that has a node
    with a name or an id; without a name, that of the oldest process.

    The result is None if no process runs. Raises Problem if no process has such a node.
    """
    places = running()
    if not name:
        return places[0] if places else None
    for place in places:
        if place.name == name:
            return place
    for place in places:
        if (known_as := _name_at(place, name)) is not None:
            return ControlSocket(known_as, place.path, is_named=True)
    known = ", ".join(place.name for place in places)
    remedy = f"running nodes: {known}" if known else START_ONE
    raise Problem(f"node = {name}: no such node is running", remedy=remedy)


def required(name: str = "") -> ControlSocket:
    """Return the control socket to which a client connects, as `chosen` does. Raises Problem if no
    process listens.
    """
    place = chosen(name)
    if place is None:
        raise Problem(NO_NODE, remedy=START_ONE)
    return place


def _name_at(place: ControlSocket, name: str) -> str | None:
    """Return the name of the node with a name or an id at a control socket, or None without such a
    node.
    """
    try:
        answer = next(ask(place, StatusRequest(node=name), _FIND_S), None)
    except Problem:
        return None
    return str(answer.status["node"]) if isinstance(answer, StatusAnswer) else None


def ask(
    place: ControlSocket, request: ControlRequest, every_s: float | None = None
) -> Iterator[Answer | None]:
    """Send a request to a control socket and yield the answers. Raises Problem if the node refuses
    or ends.

    every_s: yield None after each such time in seconds without an answer.
    """
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(_CONNECT_S)
        try:
            sock.connect(str(place.path))
        except OSError:
            raise Problem(f"node = {place.name}: the node has ended", remedy=START_ONE) from None
        sock.settimeout(every_s)
        if place.is_named:
            request = msgspec.structs.replace(request, node=place.name)
        with contextlib.suppress(BrokenPipeError):  # the refusal of a node has the reason
            sock.sendall(line(request))
        for whole in _lines(sock):
            answer = None if whole is None else ANSWERS.decode(whole)
            if isinstance(answer, RefusedAnswer):
                raise Problem(answer.what, remedy=answer.remedy)
            yield answer


def _lines(sock: socket.socket) -> Iterator[bytes | None]:
    """Yield the lines that a control socket sends, and None at the time-out."""
    waiting = b""
    while True:
        try:
            more = sock.recv(_READ)
        except TimeoutError:
            yield None
            continue
        except ConnectionError:
            more = b""
        if not more:
            return
        *whole, waiting = (waiting + more).split(b"\n")
        yield from whole
        if len(waiting) > 2 * MOST_LINE:
            what = f"the answer of the node has a line of more than {2 * MOST_LINE:,} bytes"
            raise Problem(
                what, remedy="use the same version of Halfway for the node and the command"
            )


def answer_of(place: ControlSocket, request: ControlRequest) -> Answer:
    """Return the single answer to a client's control request. Raises Problem as `ask` does."""
    for answer in ask(place, request):
        assert answer is not None
        return answer
    raise Problem(f"node = {place.name}: the node ended before it answered", remedy=START_ONE)
