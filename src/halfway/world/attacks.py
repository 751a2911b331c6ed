"""The declarations of attacks: nodes of a run that do harm on purpose, as black holes or liars.

`faults.py` schedules them as it schedules the other faults.
"""

from typing import Literal

import msgspec


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
    information]
    """

    kind: Literal["black-hole", "liar"]
    node: int | str | None = None
    share: float | None = None
    at: float = 0.0
    for_: float | None = None
