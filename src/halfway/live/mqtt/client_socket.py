"""`ClientSocket`: the TCP or TLS socket of one client at the MQTT door."""

import asyncio
import socket
from typing import Protocol

from halfway.live.mqtt.sessions.connection import Connection

WRITE_BUFFER = 256 * 1024  # unsent bytes of one client; then its messages wait in the bounded queue
LINGER_S = 1.0  # in which a client may read the reason of its end, and close
# Without this option, the kernel delays acknowledgements by 40 ms, and the Nagle algorithm of the
# client waits for them.
_QUICKACK: int | None = getattr(socket, "TCP_QUICKACK", None)


class ClientServer(Protocol):
    """The server of MQTT clients, as their sockets see it."""

    def new_client(self, address: str, client: "ClientSocket") -> Connection | None:
        """Take a new client; return its connection, or None if there are too many clients."""

    def bytes_arrived(self, connection: Connection, data: bytes) -> None:
        """Handle bytes from a client."""

    def client_gone(self, connection: Connection) -> None:
        """Forget a client whose socket is closed."""


class ClientSocket(asyncio.Protocol):
    """The socket of one MQTT client."""

    def __init__(self, server: ClientServer) -> None:
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._connection: Connection | None = None
        self._is_reading, self._is_ending = True, False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin a client's connection, or close it if there are too many."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._socket: socket.socket = transport.get_extra_info("socket")
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        transport.set_write_buffer_limits(high=WRITE_BUFFER)
        address = transport.get_extra_info("peername")
        self._connection = self._server.new_client(str(address), self)
        if self._connection is None:
            transport.abort()

    def data_received(self, data: bytes) -> None:
        """Pass bytes from a client's socket to the session machine."""
        if _QUICKACK is not None:
            self._socket.setsockopt(socket.IPPROTO_TCP, _QUICKACK, 1)  # the kernel forgets it
        if self._connection is not None and not self._is_ending:
            self._server.bytes_arrived(self._connection, data)

    def pause_writing(self) -> None:
        """Keep messages queued at a socket, because its client does not read."""
        self._note_writable(False)

    def resume_writing(self) -> None:
        """Write messages to a socket of the MQTT door again, because its client reads again."""
        self._note_writable(True)
        self.write_output(self._loop.time())

    def _note_writable(self, is_writable: bool) -> None:
        if self._connection is not None:
            self._connection.is_writable = is_writable

    def write_output(self, now: float) -> None:
        """Write the MQTT door's output to a client; then read its input, pause or close."""
        connection = self._connection
        if connection is None or self._is_ending or self._transport.is_closing():
            return
        while output := connection.take_output(now):
            self._transport.write(output)
        if connection.is_closing:
            self._end()
            return
        # Answers would pile up for a client that does not read.
        is_reading = connection.is_reading and connection.is_writable
        if is_reading != self._is_reading:
            self._is_reading = is_reading
            (self._transport.resume_reading if is_reading else self._transport.pause_reading)()

    def _end(self) -> None:
        """Close a client's socket so that no reset, because of unread bytes, voids the output."""
        self._is_ending = True
        if not self._transport.can_write_eof():  # TLS cannot end one direction
            self._transport.close()
            return
        try:
            self._transport.write_eof()
        except OSError:  # the client has reset the connection
            self._transport.abort()
            return
        self._transport.resume_reading()  # what still arrives is dropped
        self._loop.call_later(LINGER_S, self._transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        """End a client's connection, with an error or without."""
        del exc
        if self._connection is not None:
            self._server.client_gone(self._connection)

    def abort(self) -> None:
        """Close an MQTT client's socket at once."""
        self._transport.abort()
