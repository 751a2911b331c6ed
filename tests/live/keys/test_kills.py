"""[R23] A node with keys is killed by SIGKILL, again and again: no nonce twice, no lock-out."""

import os
import random
import signal
import socket
import struct
from collections.abc import Callable
from typing import Any

import pytest

from halfway.live.keys import noise
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.keys.network_membership import Membership
from halfway.live.security import Opened, Refused
from tests.live.keys.made import MadeNetwork, Wire, member

NETWORK = MadeNetwork()
HERE, THERE = ("10.0.0.1", 4711), ("10.0.0.2", 4711)
_NONCE = struct.Struct("<32sQ")
_MOST_DATAGRAMS = 2048
Note = Callable[[bytes, int], None]


class Killed:
    """A node in a process of its own that keeps its files alone; it sends until it is killed."""

    def __init__(self, membership: Membership, parent: int) -> None:
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        nonces, note = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                _live(membership, parent, theirs, note)
            finally:
                os._exit(1)
        theirs.close()
        os.close(note)
        self.socket, self._nonces = ours, nonces
        ours.settimeout(30.0)

    def kill(self) -> list[tuple[bytes, int]]:
        """Kill the process; return the key and the counter of all that it sealed, in order."""
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        self.socket.close()
        with os.fdopen(self._nonces, "rb") as pipe:
            content = pipe.read()
        return list(_NONCE.iter_unpack(content[: len(content) // _NONCE.size * _NONCE.size]))


def _live(membership: Membership, parent: int, sock: socket.socket, note: int) -> None:
    """The life of the process: a new session, and frames without end."""
    _note_nonces(lambda key, counter: os.write(note, _NONCE.pack(key, counter)))
    node, number = KeyedSecurity(membership, random=os.urandom, handshake_rate=1e6), 0
    sock.send(node.beacon())
    while True:
        sealed = node.seal(parent, b"%d" % number, 0.0)
        sock.setblocking(sealed is None)
        try:
            if sealed is not None and number < _MOST_DATAGRAMS:
                sock.send(sealed)
                number += 1
            node.open(HERE, sock.recv(4096), 0.0)
        except BlockingIOError:
            continue
        for _, datagram in node.pending():
            sock.send(datagram)


def _note_nonces(note: Callable[[bytes, int], object]) -> None:
    """Note key and counter of everything that this process seals, before it does."""
    kind: Any = noise.Key  # a class whose methods are replaced
    make, seal = kind.__init__, kind.seal

    def noted_make(self: Any, key: bytes, cipher: int) -> None:
        make(self, key, cipher)
        self.noted = key

    def noted_seal(self: Any, counter: int, plain: bytes, header: bytes) -> Any:
        note(self.noted, counter)
        return seal(self, counter, plain, header)

    kind.__init__, kind.seal = noted_make, noted_seal


def killed(count: int, seed: int) -> tuple[int, int, int]:
    """Kill a node `count` times; its peer runs on, and starts anew after each third one.

    Return how many nonces were used, how many of them twice, and how many replays were accepted.
    """
    rng, wire = random.Random(seed), Wire()
    one, other = (member(NETWORK, wire, n).membership for n in (1, 2))
    used, twice, accepted, recorded = set[tuple[bytes, int]](), 0, 0, list[bytes]()

    def note(key: bytes, counter: int) -> None:
        nonlocal twice
        twice += (key, counter) in used
        used.add((key, counter))

    _note_nonces(note)
    here = KeyedSecurity(one, random=os.urandom, handshake_rate=1e6)
    for life in range(count):
        if life % 3 == 2:
            here = KeyedSecurity(one, random=os.urandom, handshake_rate=1e6)
        now = 2.0 * life
        node = Killed(other, one.own.node_id)
        wanted, heard = rng.randrange(1, 60), 0
        while heard < wanted:  # a time-out is a lock-out
            datagram = node.socket.recv(4096)
            opened = here.open(THERE, datagram, now)
            for _, answer in here.pending():
                node.socket.send(answer)
            if isinstance(opened, Opened) and opened.plain:
                assert opened.plain == b"%d" % heard
                heard += 1
                recorded.append(datagram)
        for replay in rng.choices(recorded, k=1000):
            answer = here.open(THERE, replay, now)
            accepted += not isinstance(answer, Refused) and bool(answer.plain)
        for key, counter in node.kill():
            note(key, counter)
        del recorded[:-5000]
    return len(used), twice, accepted


@pytest.fixture(autouse=True)
def _as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let monkeypatch restore the methods that a test replaces."""
    for name in ("__init__", "seal"):
        monkeypatch.setattr(noise.Key, name, getattr(noise.Key, name))


def test_a_killed_node_repeats_no_nonce_and_is_not_locked_out() -> None:
    used, twice, accepted = killed(5, seed=1)
    assert used > 50
    assert (twice, accepted) == (0, 0)


@pytest.mark.slow
def test_a_thousand_kills_repeat_no_nonce_and_a_million_replays_open_nothing() -> None:
    used, twice, accepted = killed(1000, seed=2)
    assert used > 30_000
    assert (twice, accepted) == (0, 0)
