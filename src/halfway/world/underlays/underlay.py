"""The underlay: a wired network with values by link, such as a delay and a bandwidth."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from halfway.problem import Problem
from halfway.world.graphs.link_list import LinkList, network_of
from halfway.world.graphs.network import Network

SPEED_OF_LIGHT_KM_S = 299_792.458
Doubles = npt.NDArray[np.float64]
Ends = npt.NDArray[np.int64]
Places = npt.NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Underlay:
    """The underlay: a network whose links have a delay and a bandwidth, equal in both directions.

    Both arrays are by place: the value at k belongs to the link from the row that owns place k of
    `network.who` to the row `network.who[k]`. Raises Problem for values out of range.
    """

    network: Network
    delay_s: Doubles  # [m] seconds that a bit travels; 0 or more
    bandwidth_bps: Doubles  # [m] bits a second; positive, infinite where unknown
    geographic: bool = False  # positions are longitude and latitude in degrees, not x and y

    def __post_init__(self) -> None:
        who, where = self.network.who, self.network.name
        for name, value in (("delay_s", self.delay_s), ("bandwidth_bps", self.bandwidth_bps)):
            if value.shape != who.shape:
                what = f"{name}: expected one value for each of {len(who)} directed links"
                raise Problem(what, where=where)
            if not np.array_equal(value, value[self.opposite]):
                what = f"{name}: expected the same value in both directions of every link"
                raise Problem(what, where=where)
        if not (np.isfinite(self.delay_s).all() and (self.delay_s >= 0).all()):
            raise Problem("delay_s: expected finite numbers of 0 or more", where=where)
        if not (self.bandwidth_bps > 0).all():
            raise Problem("bandwidth_bps: expected positive numbers", where=where)

    @cached_property
    def owner(self) -> Places:
        """[m] the row that owns each place of the underlay's `network.who`, which is the sending
        end of the link.
        """
        rows = np.arange(self.network.n, dtype=np.int32)
        return np.repeat(rows, self.network.degree)

    @cached_property
    def opposite(self) -> Places:
        """[m] the place of the same link of the underlay in the other direction."""
        # Entries are in order of (owner, who); in order of (who, owner) they are their opposites.
        return np.argsort(self.network.who, kind="stable").astype(np.int32)

    @cached_property
    def link(self) -> Places:
        """[m] the number of the underlay's link, 0…links-1, in order of its (lower, upper) row."""
        lower = self.owner < self.network.who
        number = np.cumsum(lower, dtype=np.int32) - np.int32(1)
        return np.where(lower, number, number[self.opposite])

    def place(self, a: int, b: int) -> int:
        """Return the place of the underlay's link from row a to b; Problem if not neighbours."""
        near = self.network.neighbours(a) if 0 <= a < self.network.n else self.network.who[:0]
        k = int(np.searchsorted(near, b))
        if k == len(near) or near[k] != b:
            ends = [self.network.label(i) if 0 <= i < self.network.n else str(i) for i in (a, b)]
            what = f"no link joins node {ends[0]} and node {ends[1]}: expected two neighbours"
            raise Problem(what, where=self.network.name)
        return int(self.network.start[a]) + k


def underlay_of(
    listed: LinkList, delay_s: Doubles, bandwidth_bps: Doubles, name: str, *, largest: bool = False
) -> Underlay:
    """Make an `Underlay` of a list of links, with their delays and bandwidths [links, as listed].

    An unknown bandwidth is NaN. Of repeated links the shortest delay and the greatest bandwidth
    count. Rows are in the order of `network_of`, `labels` are the list's.
    """
    network = network_of(listed, name, largest=largest)
    assert network.labels is not None
    row = {str(label): i for i, label in enumerate(network.labels)}  # -1 below: left out
    ends = np.array([row.get(label, -1) for label in listed.labels], np.int64)[listed.ends]
    greatest = -by_place(network, ends, -np.nan_to_num(bandwidth_bps, nan=0.0, posinf=np.inf))
    greatest[greatest == 0] = np.inf
    return Underlay(network, by_place(network, ends, delay_s), greatest)


def by_place(network: Network, ends: Ends, value: Doubles) -> Doubles:
    """Return [m]: values of links [links, 2] (rows) by place of an `Underlay`, the same both ways.

    Of repeated links the least value counts; loops and unknown rows (-1) are skipped; NaN
    where no link is listed.
    """
    real = (ends[:, 0] != ends[:, 1]) & (ends.min(axis=1, initial=0) >= 0)
    a, b = ends[real].T
    given_values, n = value[real], network.n
    key = np.repeat(np.arange(n, dtype=np.int64), network.degree) * n + network.who
    values, listed = np.full(len(key), np.inf), np.zeros(len(key), np.bool_)
    for end, other in ((a, b), (b, a)):
        wanted = end * n + other
        place = np.minimum(np.searchsorted(key, wanted), max(len(key) - 1, 0))
        there = key[place] == wanted if len(key) else np.zeros(len(wanted), bool)
        np.minimum.at(values, place[there], given_values[there])
        listed[place[there]] = True
    return np.where(listed, values, np.nan)
