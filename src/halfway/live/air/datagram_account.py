"""The account of the datagrams on an air: each was received, or the place of its loss is known."""

from collections.abc import Mapping
from typing import NamedTuple


class Account(NamedTuple):
    """The account of an air: two sums, copies that the bridge made and copies that were heard."""

    sent: int  # copies: 1 for a datagram to a node, n - 1 to the discovery group
    by_the_air: int  # heard, lost, split or out of reach
    heard: int  # duplicates included
    by_the_nodes: int  # received, dropped for want of room, or still in the queue

    @property
    def is_exact(self) -> bool:
        """Whether both sums of the account are equal on both sides."""
        return self.sent == self.by_the_air and self.heard == self.by_the_nodes


def account(
    n: int, datagrams: Mapping[str, int], air: Mapping[str, int], queue: Mapping[str, int]
) -> Account:
    """Return the account of n nodes, from `AirHost.datagrams`, `Air.counts` and `Air.close`.

    The account is exact when no datagram is on its way.
    """
    copies = air["to_groups"]
    to_groups = copies // max(n - 1, 1)
    heard = air["heard"] + air.get("duplicated", 0)
    at_nodes = datagrams["received"] + datagrams["received by groups"] + datagrams["no room"]
    return Account(
        datagrams["sent"] - to_groups + copies,
        air["heard"] + air["lost"] + air["split"] + air["out_of_reach"],
        heard,
        at_nodes + queue.get("waiting", 0) + queue.get("queue full", 0),
    )
