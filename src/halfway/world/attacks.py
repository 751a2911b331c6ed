"""The declarations of attacks: nodes of a run that do harm on purpose.

`faults.py` schedules them as it schedules the other faults.
"""

from typing import Literal

import msgspec

from halfway.problem import Problem


class FaultDeclaration(
    msgspec.Struct,
    frozen=True,
    kw_only=True,
    forbid_unknown_fields=True,
    rename={"for_": "for"},  # `for` is a Python keyword
    tag_field="fault",
):
    """The form that all faults and attacks have in a scenario file: the field `fault` has the tag
    of the class, and unknown fields are refused.
    """


class Attack(FaultDeclaration, frozen=True, kw_only=True, tag="attack"):
    """An attack by one node, or by a share of nodes drawn by the seed, from `at` on (seconds).

    for_: its duration in seconds; None: to the end of the run.

    black-hole: the node handles and acknowledges all records, and makes all announcements of its
    system, so that other nodes send events through it. But the node transmits no event of another
    publisher. [Karlof & Wagner, Secure Routing in Wireless Sensor Networks, 2003, §5.2: selective
    forwarding] liar: the node passes on events as any other node. All other records that it sends
    have random values within the ranges of their fields: lists of neighbours, filters, walks,
    offers. The addresses of a hop and its sequence number stay true. [ibid., §5.1: altered routing
    information] lies: only hellos have random values; or the liar sets all bits of Bloom filters.
    replay: `delay_s` after the node heard a record, it transmits the record again, unchanged.
    [ibid., §5.1: replayed routing information] wormhole: two nodes repeat what one of them hears at
    the other one, unchanged and without delay. peer: the other end, if `node` is given; a share
    makes pairs. relays_events: False: the two ends repeat all records except those with events.
    [ibid., §5.5: wormholes] flood: the node publishes an event every `every_s` seconds on one topic
    of the workload. [ibid., §5.6, for events in place of hellos]
    """

    kind: Literal["black-hole", "liar", "replay", "wormhole", "flood"]
    node: int | str | None = None
    share: float | None = None
    at: float = 0.0
    for_: float | None = None
    lies: Literal["all", "hellos", "filters"] = "all"
    delay_s: float = 10.0
    peer: int | str | None = None
    relays_events: bool = True
    every_s: float = 1.0


# The fields that belong to one kind of attack.
FIELDS_OF_KIND = {
    "lies": "liar",
    "delay_s": "replay",
    "peer": "wormhole",
    "relays_events": "wormhole",
    "every_s": "flood",
}


def check_fields(fault: Attack, longest_s: float, where: str) -> None:
    """Raise Problem for a field that does not belong to the kind of an attack, or for a value out
    of its range.

    longest_s: times are below this number.
    """
    defaults = {field.name: field.default for field in msgspec.structs.fields(Attack)}
    for name, kind in FIELDS_OF_KIND.items():
        value = getattr(fault, name)
        if value != defaults[name] and fault.kind != kind:
            what = f"{name} = {value}: expected no {name}, because kind is {fault.kind}"
            raise Problem(what, where=where, remedy=f'remove {name}, or use kind = "{kind}"')
    for name in ("delay_s", "every_s"):
        if not 0.0 < getattr(fault, name) < longest_s:
            what = f"{name} = {getattr(fault, name):g}: expected a positive, finite time"
            raise Problem(what, where=where)
    if fault.kind == "wormhole" and (fault.peer is None) != (fault.node is None):
        what = f"node = {fault.node}, peer = {fault.peer}: expected both ends of the wormhole"
        raise Problem(what, where=where, remedy="give node and peer, or give share")
