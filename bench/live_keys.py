"""The cost of keys and of the journal, each as a multiple of its plain alternative, in one run.

Datagrams of 200 B are sealed and opened by a session, beside the bare AEAD of `cryptography` and a
copy of the bytes. A handshake is run to its end. Records are kept alone, in groups of 16, and in
groups of 64, beside records that are never synced.
python bench/live_keys.py [--json] [--rounds N]
"""

import argparse
import itertools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from rich.console import Console
from rich.table import Table

from halfway.live.journal.journal import Journal
from halfway.live.journal.storage import FolderStorage
from halfway.live.keys.certificates import Certificate, network_id_of, signed_certificate
from halfway.live.keys.identity import Identity
from halfway.live.keys.keyed_security import KeyedSecurity
from halfway.live.keys.network_membership import Membership
from side_by_side import Row, race, show

PLAIN = bytes(200)
DATAGRAMS, RECORDS, HANDSHAKES = 2_000, 512, 20
ADDRESSES = (("10.0.0.1", 4711), ("10.0.0.2", 4711))


def members() -> list[Membership]:
    """Return two memberships of one network with keys."""
    root, secret = Ed25519PrivateKey.generate(), os.urandom(32)
    root_key, found = root.public_key().public_bytes_raw(), []
    for serial, name in enumerate(("kitchen", "cellar")):
        identity = Identity.new(os.urandom)
        certificate = Certificate(
            network_id_of(root_key), serial, 2**40, 0, identity.signing_public,
            identity.static_public, name, ("#",), ("#",),
        )  # fmt: skip
        own = signed_certificate(certificate, root)
        found.append(
            Membership(
                identity, own, root_key=root_key, secret=secret, network="bench",
                wall=lambda: 0.0,
            )
        )  # fmt: skip
    return found


def session(two: list[Membership], cipher: int) -> list[KeyedSecurity]:
    """Return two securities with keys after a handshake."""
    nodes = [KeyedSecurity(one, random=os.urandom, cipher=cipher) for one in two]
    flying = [(0, nodes[0].beacon())]
    while flying:
        sender, datagram = flying.pop(0)
        receiver = 1 - sender
        nodes[receiver].open(ADDRESSES[sender], datagram, 0.0)
        flying += [(receiver, caused) for _, caused in nodes[receiver].pending()]
    return nodes


def sealing(two: list[Membership]) -> dict[str, Callable[[], object]]:
    """Return the ways to seal 200 B from one node to another, without a socket."""

    def sealed(cipher: int) -> Callable[[], object]:
        sender, receiver = session(two, cipher)

        def run() -> None:
            for _ in range(DATAGRAMS):
                datagram = sender.seal(receiver.node_id, PLAIN, 0.0)
                receiver.open(ADDRESSES[0], datagram or b"", 0.0)

        return run

    aead, counter = AESGCM(bytes(32)), itertools.count()

    def bare() -> None:
        for _ in range(DATAGRAMS):
            nonce = next(counter).to_bytes(12, "big")
            aead.decrypt(nonce, aead.encrypt(nonce, PLAIN, b"header"), b"header")

    def copied() -> None:
        for _ in range(DATAGRAMS):
            bytes(memoryview(b"header" + PLAIN)[6:])

    return {
        "session, AES-256-GCM": sealed(0),
        "session, ChaCha20-Poly1305": sealed(1),
        "AES-256-GCM alone": bare,
        "a copy": copied,
    }


def joining(two: list[Membership]) -> dict[str, Callable[[], object]]:
    """Return a handshake of both ends, and the six key exchanges in it."""
    private = two[0].identity.static
    public = two[1].identity.static.public_key()

    def handshakes() -> None:
        for _ in range(HANDSHAKES):
            session(two, 0)

    def exchanges() -> None:
        for _ in range(6 * HANDSHAKES):
            private.exchange(public)

    return {"handshake, both ends": handshakes, "its six X25519 exchanges": exchanges}


class Unsynced(FolderStorage):
    """A folder of a journal that leaves the bytes to the operating system."""

    def sync(self, name: str) -> None:
        """Return at once, where a journal would wait for the disk."""


def keeping(folder: Path) -> dict[str, Callable[[], object]]:
    """Return the ways to keep records of 200 B in a journal on disk."""

    def grouped(kind: type[FolderStorage], group: int) -> Callable[[], object]:
        journal = Journal(kind(folder / f"{kind.__name__}-{group}"), os.urandom)
        list(journal.recover())

        def run() -> None:
            for number in range(1, RECORDS + 1):
                journal.append(1, PLAIN)
                if number % group == 0 and (taken := journal.taken_group()):
                    taken.write()

        return run

    return {
        "a sync for each": grouped(FolderStorage, 1),
        "groups of 16": grouped(FolderStorage, 16),
        "groups of 64": grouped(FolderStorage, 64),
        "groups of 64, never synced": grouped(Unsynced, 64),
    }


def print_races(rows: list[Row], unit: str) -> None:
    """Print one race of keys or journal: µs of a unit, and the multiple of the last candidate."""
    table = Table("candidate", f"µs a {unit}", f"× {rows[-1].name}")
    for row in rows:
        table.add_row(row.name, f"{1e6 / row.rate:.1f}", f"{rows[-1].rate / row.rate:.2f}")
    Console().print(rows[0].work, table, highlight=False)


def main() -> None:
    """Run and print the races of keys and of the journal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", action="store_true", help="one JSON object a line")
    parser.add_argument("--rounds", type=int, default=7)
    chosen = parser.parse_args()
    two = members()
    with tempfile.TemporaryDirectory() as folder:
        races = (
            ("seal and open 200 B", sealing(two), DATAGRAMS, "datagram"),
            ("join", joining(two), HANDSHAKES, "handshake"),
            ("keep 200 B", keeping(Path(folder)), RECORDS, "record"),
        )
        for work, candidates, units, unit in races:
            rows = race(candidates, work, chosen.rounds, units)
            if chosen.json:
                show(rows, as_json=True)
            else:
                print_races(rows, unit)


if __name__ == "__main__":
    main()
