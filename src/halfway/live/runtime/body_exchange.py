"""The exchange of event bodies, and of certificates of publishers, between a live node and its
neighbours.

A body travels before the first record of its event to a neighbour, if both fit into one datagram.
Otherwise the neighbour requests the body, and holds the record meanwhile.
"""

import struct
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, NamedTuple

from halfway.live.drops import Drop, Drops
from halfway.live.events.bodies import BodyTable, EventBody, EventKey, decoded, encoded
from halfway.live.events.event_shares import EventShares
from halfway.live.limits import Limits
from halfway.live.security import Security
from halfway.live.step.datagram_flow import EventPlaces, Flow
from halfway.live.step.refused_hops import RefusedHops
from halfway.live.step.scheduler import Scheduler
from halfway.live.wire.frames import (
    HEAD,
    KEY_BYTES,
    FrameType,
    frame,
    key_bytes,
    key_in,
    record_begin,
)

_ASK_AGAIN_S, _MOST_ASKED = 0.1, 8  # the wait doubles each time
_WORD = struct.Struct("<I")


class _Held(NamedTuple):
    """Records that the exchange holds until the body of their event comes."""

    records: list[tuple[int, bytes]]  # peer, content of the RECORD frame
    asked: int


class BodyExchange:
    """The exchange of event bodies between one live node and its neighbours.

    flow: the bodies that each neighbour has, and the newest bodies for machine code. send: a
    function that queues a frame for a neighbour. handle: a function that takes a record whose body
    is here.
    """

    def __init__(
        self,
        flow: Flow,
        security: Security,
        scheduler: Scheduler,
        limits: Limits,
        drops: Drops,
        send: Callable[[int, bytes], None],
        handle: Callable[[int, bytes, EventBody | None], None],
    ) -> None:
        self._flow, self._security = flow, security
        self._scheduler, self._limits = scheduler, limits
        self._drops, self._send, self._handle = drops, send, handle
        self.bodies = BodyTable(limits.bodies, limits.body_bytes)
        self._held: OrderedDict[EventKey, _Held] = OrderedDict()
        self._held_records = 0
        self._shares: EventShares | None = None  # of the publishers, at a node that limits them
        self._refused_hops: RefusedHops

    def limit_publishers(self, length_of: Callable[[int], float], hops: RefusedHops) -> None:
        """Limit the publishers in the events of neighbours, unless no datagrams wait at the node.
        length_of: see `EventShares`. hops: acknowledges the records of refused events.
        """
        self._refused_hops = hops
        if self._limits.waiting_bytes:
            are_proven = self._security.proves_publishers
            self._shares = EventShares(self._limits.publishers, length_of, are_proven=are_proven)

    def send_record(self, kind: int, content: bytes, key: EventKey, to: list[int]) -> None:
        """Queue a record for neighbours, with the event's body for each neighbour that lacks it."""
        whole = frame(FrameType.RECORD, content)
        if kind not in self._flow.places:
            for peer in to:
                self._send(peer, whole)
            return
        body = self.bodies.get(key)
        if body is None:
            self._drops.count(Drop.NO_BODY)
            return
        now = self._scheduler.now()
        if body.is_over(now):
            self._drops.count(Drop.EXPIRED)
            return
        slot, carried = self._slot(key, body), b""
        capacity = self._limits.mtu - self._security.overhead
        if body.size() + HEAD.size + KEY_BYTES + len(whole) <= capacity:
            carried = frame(FrameType.BODY, key_bytes(key) + encoded(body, now))
        for peer in to:
            if carried and not self._flow.has_body(slot, peer):
                self._flow.note_holder(slot, peer)
                self._send(peer, carried)
            self._send(peer, whole)

    def on_frame(self, peer: int, frame_type: int, content: bytes) -> bool:
        """Take a neighbour's frame for the exchange of bodies: a record, a body, a certificate, or
        a request. Return False for another frame.

        Raises ValueError for malformed bytes.
        """
        if frame_type == FrameType.RECORD:
            self.take_record(peer, content)
        elif frame_type == FrameType.BODY:
            self.take_body(peer, content)
        elif frame_type == FrameType.WANT:
            self.take_want(peer, content)
        elif frame_type == FrameType.WANT_CERTIFICATE:
            self.take_want_certificate(peer, content)
        elif frame_type == FrameType.CERTIFICATE:
            if not self._security.learn_certificate(content):
                self._drops.count(Drop.NOT_PERMITTED)
        else:
            return False
        return True

    def take_record(self, peer: int, content: bytes) -> None:
        """Take a RECORD frame of a neighbour; hold the frame if the body of its event must come
        first.
        """
        begin = record_begin(content)
        places = self._flow.places.get(content[begin]) if begin < len(content) else None
        if places is None:
            self._handle(peer, content, None)
            return
        if len(content) < begin + places.least:
            self._drops.count(Drop.UNREADABLE)
            return
        key = self._key_in(content, begin, places)
        body = self.bodies.get(key)
        if body is not None:
            self._handle(peer, content, body)
        elif self._shares is not None and (why := self._shares.refusal_before(peer, key)):
            self._refuse_record(peer, content, why)
        elif self._held_records >= self._limits.held:
            self._drops.count(Drop.HELD_FULL)
        else:
            self._hold(key, peer, content)

    def key_of(self, content: bytes) -> EventKey:
        """Return the key of the event whose body the exchange has, from the content of a RECORD
        frame.
        """
        begin = record_begin(content)
        return self._key_in(content, begin, self._flow.places[content[begin]])

    def take_body(self, peer: int, content: bytes) -> None:
        """Take the body of an event from a neighbour's BODY frame, and the records that waited for
        it.
        """
        key, slot = key_in(content), -1
        if key not in self.bodies:
            now = self._scheduler.now()
            why = None if self._shares is None else self._shares.refusal(peer, key, now)
            if why is not None:
                self._refuse(peer, key, why)
                return
            data = content[KEY_BYTES:]
            new = decoded(data, now)
            if len(new.payload) > self._limits.payload:
                raise ValueError("too large")
            if not self._security.knows(key[0]):  # the body comes again after the certificate
                self.ask_certificate(peer, key[0])
                return
            if not self._security.permits(key[0], "publish", new.topic):
                self._drops.count(Drop.NOT_PERMITTED)
                return
            if self._shares is not None:
                self._shares.take(peer, key, now)
            slot = self.add(key, new, data)
        body = self.bodies.get(key)
        if body is not None:
            self._flow.note_holder(self._slot(key, body) if slot < 0 else slot, peer)
            if self._held:
                for held_by, record in self._released(key):
                    self._handle(held_by, record, body)

    def take_want(self, peer: int, content: bytes) -> None:
        """Send the body of an event to a neighbour that asks for it by a WANT frame."""
        key = key_in(content)
        body = self.bodies.get(key)
        if body is None:
            self._drops.count(Drop.NO_BODY)
            return
        self._flow.note_holder(self._slot(key, body), peer)
        self._send(
            peer, frame(FrameType.BODY, key_bytes(key) + encoded(body, self._scheduler.now()))
        )

    def ask_certificate(self, peer: int, node_id: int) -> None:
        """Ask a neighbour for the certificate of a node that published a body or a retained
        value.
        """
        self._send(peer, frame(FrameType.WANT_CERTIFICATE, _WORD.pack(node_id)))

    def take_want_certificate(self, peer: int, content: bytes) -> None:
        """Send a publisher's certificate to a neighbour that asks by a WANT_CERTIFICATE frame.
        Raises ValueError.
        """
        if len(content) != _WORD.size:
            raise ValueError("wrong length")
        certificate = self._security.certificate_of(_word(content, 0))
        if certificate:
            self._send(peer, frame(FrameType.CERTIFICATE, certificate))

    def add(self, key: EventKey, body: EventBody, data: bytes = b"") -> int:
        """Keep the body of an event for the exchange with neighbours; return its slot in the flow
        of datagrams.
        """
        for gone in self.bodies.add(key, body):
            self._flow.forget_body(gone)
        return self._flow_slot(key, body, data)

    def _slot(self, key: EventKey, body: EventBody) -> int:
        """Return the slot of a body in the flow of datagrams, which may have forgotten it."""
        slot = self._flow.body_slot(key)
        return slot if slot >= 0 else self._flow_slot(key, body)

    def _flow_slot(self, key: EventKey, body: EventBody, data: bytes = b"") -> int:
        """Give a body a slot in the flow of datagrams. Return -1 for a probe, whose hops Python
        reports.
        """
        if body.probe:
            return -1
        data = data or encoded(body, body.born)
        return self._flow.add_body(key, data, body.born, body.born + body.expiry_s)

    @staticmethod
    def _key_in(content: bytes, begin: int, places: EventPlaces) -> EventKey:
        return (
            _word(content, begin + places.publisher),
            _word(content, begin + places.epoch),
            _word(content, begin + places.event),
        )

    def _hold(self, key: EventKey, peer: int, content: bytes) -> None:
        held = self._held.get(key)
        if held is None:
            held = self._held[key] = _Held([], 1)
            self._ask(key, held)
        held.records.append((peer, content))
        self._held_records += 1
        if held.asked == 1 and len(held.records) == 1:
            self._send(peer, frame(FrameType.WANT, key_bytes(key)))

    def _refuse(self, peer: int, key: EventKey, why: Drop) -> None:
        """Refuse the body of an event from a neighbour, and its records that wait for this body."""
        self._drops.count(why)
        if key in self._held:
            for held_by, record in self._held[key].records:
                if held_by == peer:
                    self._refuse_record(peer, record, why)
                    self._held_records -= 1
            held = self._held.pop(key)
            if others := [kept for kept in held.records if kept[0] != peer]:
                self._held[key] = held._replace(records=others)

    def _refuse_record(self, peer: int, content: bytes, why: Drop) -> None:
        """Refuse a record of an event whose body the node refused, and acknowledge its hop."""
        self._drops.count(why)
        acknowledgement = self._refused_hops.acknowledgement(content)
        if acknowledgement:
            self._send(peer, frame(FrameType.RECORD, acknowledgement))

    def _ask(self, key: EventKey, held: _Held) -> None:
        wait = _ASK_AGAIN_S * 2 ** (held.asked - 1)
        self._scheduler.after(wait, self._ask_again, (key, held.asked))

    def _ask_again(self, now: float, asked_for: tuple[EventKey, int]) -> None:
        """Request a body again, each time of another neighbour, and give up at last."""
        del now
        key, asked = asked_for
        held = self._held.get(key)
        if held is None or held.asked != asked:
            return
        if asked >= _MOST_ASKED:
            self._drops.count(Drop.NO_BODY, len(self._released(key)))
            return
        self._held[key] = held = held._replace(asked=asked + 1)
        peer, _ = held.records[asked % len(held.records)]
        self._send(peer, frame(FrameType.WANT, key_bytes(key)))
        self._ask(key, held)

    def _released(self, key: EventKey) -> list[tuple[int, bytes]]:
        held = self._held.pop(key, None)
        records = [] if held is None else held.records
        self._held_records -= len(records)
        return records


def _word(content: bytes, at: int) -> int:
    found: tuple[Any, ...] = _WORD.unpack_from(content, at)
    return int(found[0])
