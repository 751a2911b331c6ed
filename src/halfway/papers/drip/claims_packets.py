"""Judge of DRIP's packets: their sizes, the repeats of beacons, and events at their broker."""

from collections.abc import Iterator
from functools import partial

from halfway.pipeline.plan.run import Scalar
from halfway.pipeline.reproduction.figures import Summaries
from halfway.pipeline.reproduction.judge import judge_order, ours
from halfway.pipeline.reproduction.verdict import Verdict
from halfway.pipeline.statistics.estimates import ratio

BROKERS, NEAREST, COPIES = (10, 40), 5, 1  # k, l, m
SYSTEMS = ("drip", "random", "sf")
PAYLOAD_BYTES = 50  # our choice; the paper states no length
EVENTS = {  # metric, and what an event is
    "event": "an event is a number in the header of its record, as in §VI-A",
    "event with payload": f"an event has a payload of {PAYLOAD_BYTES} bytes, our choice",
}
_OURS = ("event with payload",)
_row = partial(Verdict, "drip", "packets")


def judge_packets(summaries: Summaries) -> Iterator[Verdict]:
    """Judge what DRIP says of its packets [drip §§IV, V-B]: subscriptions are smaller than events,
    beacons end, and capable brokers can delete more events."""
    for k in BROKERS:
        cell: dict[str, Scalar] = {"k": k}
        drip, random, sf = (partial(summaries.find, system=system, k=k) for system in SYSTEMS)
        payload = drip("subscription").mean - drip("event").mean
        for metric, words in EVENTS.items():
            share = ratio(drip("subscription"), drip(metric), "mean")
            opinion, reason = judge_order(*share)
            why = f"{reason}; an event is larger from a payload of {max(payload, 0.0):.0f} bytes on"
            yield _row(
                cell, f"bytes of a subscription / of an {metric}",
                None if metric in _OURS else "subscription packets are smaller", *share,
                drip(metric).networks, f"mean bytes of a record between brokers; {words}",
                *(ours((opinion, why)) if metric in _OURS else (opinion, why)),
            )  # fmt: skip
        share = ratio(drip("bytes"), sf("bytes"), "mean")
        yield _row(
            cell, "bytes of all transmissions, DRIP / SF",
            "our approach can reduce network throughput", *share, sf("bytes").networks,
            "bytes of all records, without payload", *judge_order(*share),
        )  # fmt: skip
        seen = drip("repeats")
        repeats = (seen.mean, seen.mean_low, seen.mean_high)
        yield _row(
            cell, "transmissions of a beacon / nodes", "it will not cause any broadcast-storm",
            *repeats, seen.networks,
            "the value 1 is a flood, in which each node repeats a beacon once",
            *judge_order(*repeats, what="share of the nodes that repeat a beacon"),
        )  # fmt: skip
        share = ratio(random("local"), drip("local"), "mean")
        yield _row(
            cell, "events that a broker detects itself, random / most capable",
            "improves the possibility of deletion", *share, random("local").networks,
            "a broker can delete an event that it detects before any transmission",
            *judge_order(*share),
        )  # fmt: skip
