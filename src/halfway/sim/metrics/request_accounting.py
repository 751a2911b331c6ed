"""Request accounting of a run: the served requests of a replicated resource, and the staleness of
its replicas.
"""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class RequestQuality:
    """The quality of a replicated resource in one run; a quantity without a value is nan.

    A request is served if a reply arrives before the last time-out. A request is unfinished if
    before this its client leaves, the client's node goes down, or the run ends.
    """

    requested: int
    served: int
    unserved: int
    served_share: float  # of the served and unserved requests
    request_s: float  # mean time from the request to its first reply, where served
    fail_overs: float  # mean further tries of a served or unserved request
    writes: int
    replies: int  # replies of members, also those that no client received
    stale_replies: float  # share of replies by members without the last write
    stale_replicas: float  # share of members without the last write at the end

    @property
    def unfinished(self) -> int:
        """The number of requests that the end of the run cut off, without a reply and before their
        time-out.
        """
        return self.requested - self.served - self.unserved


@dataclass
class RequestTally:
    """The tally of requests, replies and writes in a run."""

    requested: int = 0
    served: int = 0
    unserved: int = 0
    waited_s: float = 0.0  # of the served requests
    fail_overs: int = 0  # of the served and unserved requests
    writes: int = 0
    replies: int = 0
    stale_replies: int = 0
    replicas: int = 0  # replicas at the end of the run
    stale_replicas: int = 0

    def quality(self) -> RequestQuality:
        """Return the quality of the replicated resource from the tally so far."""
        finished = self.served + self.unserved
        return RequestQuality(
            requested=self.requested,
            served=self.served,
            unserved=self.unserved,
            served_share=_ratio(self.served, finished),
            request_s=_ratio(self.waited_s, self.served),
            fail_overs=_ratio(self.fail_overs, finished),
            writes=self.writes,
            replies=self.replies,
            stale_replies=_ratio(self.stale_replies, self.replies),
            stale_replicas=_ratio(self.stale_replicas, self.replicas),
        )


def _ratio(amount: float, of: float) -> float:
    return amount / of if of > 0 else math.nan
