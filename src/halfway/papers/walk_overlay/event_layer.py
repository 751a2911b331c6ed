"""What one run of the event layer does: subscriptions on an overlay, and events that cross it."""

import numpy as np
import numpy.typing as npt

from halfway.bulk.walk_overlay.traffic import Traffic, due, filters, passes
from halfway.core.bloom import Size, expected_false_positives, with_bits
from halfway.papers.walk_overlay.measurements import drawn, initiator_sets
from halfway.pipeline.plan.run import Observations, Run
from halfway.protocols.walk_overlay.handler import Catalogue, Subscription, catalogue
from halfway.protocols.walk_overlay.messages import CHUNK_WORDS

TOPICS = 64
EACH = 4  # subscriptions of a subscriber
EVENTS = 100
STRANGERS = 500  # topics that nobody wants, asked of every filter
LEAVING = 20  # subscriptions taken back, one by one


def subscriptions(
    count: int, content: bool, dice: np.random.Generator
) -> tuple[list[Subscription], list[tuple[int, tuple[float, ...]]]]:
    """Subscriptions and events: topics uniform; with content an interval of two attributes each."""
    wishes = []
    for topic in dice.integers(TOPICS, size=count):
        intervals: list[tuple[float, float] | None] = []
        for low, width in dice.random((2, 2)) if content else ():
            intervals.append(
                (float(low * (1 - width / 2)), float(low * (1 - width / 2) + width / 2))
            )
        wishes.append(Subscription(int(topic), tuple(intervals)))
    values = dice.random((EVENTS, 2 if content else 0))
    topics = dice.integers(TOPICS, size=EVENTS)
    events = [(int(t), tuple(map(float, v))) for t, v in zip(topics, values, strict=True)]
    return wishes, events


def traffic(run: Run) -> Observations:
    """Half of an overlay's initiators subscribe, the others publish; a unit is an event.

    exact, bloom, none: transmissions of an event under exact tables, Bloom filters, no filter.
    lost: (event, subscriber) pairs that the filters lost. false: share of filters that admit a
    topic that nobody wants; predicted: what the formula says of these filters.
    chunks: records that one unsubscription sends when filters are made anew; links: what it sends
    when each filter counts, a record a link.
    """
    with run.timed("network"):
        _, walks, _ = drawn(run["n"], run["radius"], run.network_seed)
    dice = np.random.default_rng(run.workload_seed)
    rows = initiator_sets(run["n"], run["initiators"], 1, run.workload_seed)[0]
    with run.timed("run"):
        tree = Traffic.on(walks.build(rows, seed=run.dice_seed % 2**64))
    half = run["initiators"] // 2
    wishes, events = subscriptions(half * EACH, run["content"], dice)
    key = run.dice_seed % 2**63
    what = catalogue(wishes, events, key)
    wanted = np.zeros((len(tree.rows), len(wishes)), np.uint8)
    for s in range(len(wishes)):
        wanted[tree.place(rows[s % half]), s] = 1
    items = len(np.unique(what.item))
    size = with_bits(items, -(-run["bits each"] * len(wishes) // 32) * 32)
    publishers = [tree.place(row) for row in rows[half:]]
    with run.timed("run"):
        return _observed(tree, wanted, what, key, size, publishers, dice)


def _observed(
    tree: Traffic,
    wanted: npt.NDArray[np.uint8],
    what: Catalogue,
    key: int,
    size: Size,
    publishers: list[int],
    dice: np.random.Generator,
) -> Observations:
    below, above = filters(tree, wanted, what, size)
    bloom = [passes(words, what, key, size) for words in (below, above)]
    wants = due(wanted, what)
    exact = [part.astype(np.bool_) for part in tree.behind(wants)]
    everything = [np.ones_like(part) for part in exact]
    told: dict[str, list[npt.NDArray[np.int64]]] = {"exact": [], "bloom": [], "none": []}
    lost = 0
    for first, publisher in enumerate(publishers):
        mine = np.arange(first, EVENTS, len(publishers))
        for name, (down, up) in (("exact", exact), ("bloom", bloom), ("none", everything)):
            count, reached = tree.transmissions(publisher, down[:, mine], up[:, mine])
            told[name].append(count)
            lost += int((wants[:, mine] & ~reached).sum())
    asked = {} if what.value.shape[1] else _false(tree, wanted, what, key, size)
    return {
        **{name: np.concatenate(counts) for name, counts in told.items()},
        "lost": np.array([lost]),
        **asked,
        "chunks": _taken_back(tree, wanted, what, size, dice),
        "links": np.array([len(tree.rows) - 1]),
        "bits": np.array([size.bits]),
    }


def _false(
    tree: Traffic, wanted: npt.NDArray[np.uint8], what: Catalogue, key: int, size: Size
) -> dict[str, npt.NDArray[np.float64]]:
    """Shares of (filter, topic that nobody wants) admitted, and as the formula says of the filters.

    Only where an item is a topic: an event then asks a filter one question.
    """
    strangers = catalogue([], [(TOPICS + s, ()) for s in range(STRANGERS)], key)
    topics = np.zeros((len(wanted), TOPICS), np.bool_)
    for s, topic in enumerate(what.topic):
        topics[wanted[:, s] == 1, topic] = True
    admitted, expected = [], []
    for words, held in zip(filters(tree, wanted, what, size), tree.behind(topics), strict=True):
        admitted.append(passes(words[1:], strangers, key, size).mean())
        items = held[1:].sum(axis=1)
        expected.append(np.mean([expected_false_positives(size, count) for count in items]))
    return {
        "false": np.array([np.mean(admitted)]),
        "predicted": np.array([np.mean(expected)]),
    }


def _taken_back(
    tree: Traffic,
    wanted: npt.NDArray[np.uint8],
    what: Catalogue,
    size: Size,
    dice: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """[LEAVING] chunks that differ, anywhere, after one subscription is taken back."""
    before = filters(tree, wanted, what, size)
    chunks = np.empty(LEAVING)
    for k, s in enumerate(dice.choice(wanted.shape[1], LEAVING, replace=False)):
        left = wanted.copy()
        left[:, s] = 0
        chunks[k] = sum(
            int((old[1:, c : c + CHUNK_WORDS] != new[1:, c : c + CHUNK_WORDS]).any(axis=1).sum())
            for old, new in zip(before, filters(tree, left, what, size), strict=True)
            for c in range(0, size.words, CHUNK_WORDS)
        )
    return chunks
