"""The measurement of paper 2's event layer: subscriptions and events on one overlay."""

import numpy as np
import numpy.typing as npt

from halfway.bulk.walk_overlay.traffic import Traffic, filters, match_matrix, passes
from halfway.core.bloom import Size, expected_false_positives, with_bits
from halfway.papers.walk_overlay.measurements import initiator_sets, overlays_on
from halfway.pipeline.plan.run import Observations, Run
from halfway.protocols.walk_overlay.messages import CHUNK_WORDS
from halfway.protocols.walk_overlay.subscription_items import Catalogue, Subscription, catalogue

TOPICS = 64
EACH = 4  # subscriptions of a subscriber
EVENTS = 100
OTHER_TOPICS = 500  # topics without subscribers, which every filter is queried for
REMOVED = 20  # subscriptions removed, one by one


def subscriptions(
    count: int, content: bool, random_state: np.random.Generator
) -> tuple[list[Subscription], list[tuple[int, tuple[float, ...]]]]:
    """Return the event layer's subscriptions and events: uniform topics, intervals of two
    attributes.
    """
    chosen = []
    for topic in random_state.integers(TOPICS, size=count):
        low, width = random_state.random((2, 2)).T if content else np.empty((2, 0))
        low = low * (1 - width / 2)
        intervals = zip(low.tolist(), (low + width / 2).tolist(), strict=True)
        chosen.append(Subscription(int(topic), tuple(intervals)))
    values = random_state.random((EVENTS, 2 if content else 0))
    topics = random_state.integers(TOPICS, size=EVENTS)
    events = [(int(t), tuple(map(float, v))) for t, v in zip(topics, values, strict=True)]
    return chosen, events


def traffic(run: Run) -> Observations:
    """Measure the event layer for each event: half of the initiators subscribe, others publish.

    exact, bloom, none: transmissions of an event under exact tables, Bloom filters, no filter.
    lost: (event, subscriber) pairs that the filters lost. false: share of filters that admit a
    topic without subscribers; predicted: the formula's share for these filters. chunks: records
    that one unsubscription sends when filters are recomputed; links: records of one unsubscription
    with counting filters, one per link.
    """
    with run.timed("network"):
        walks, _ = overlays_on(run["n"], run["radius"], run.network_seed)
    random_state = np.random.default_rng(run.workload_seed)
    rows = initiator_sets(run["n"], run["initiators"], 1, run.workload_seed)[0]
    with run.timed("run"):
        tree = Traffic.on(walks.build(rows, seed=run.random_seed % 2**64))
    half = run["initiators"] // 2
    chosen, events = subscriptions(half * EACH, run["content"], random_state)
    key = run.random_seed % 2**63
    contents = catalogue(chosen, events, key)
    wanted = np.zeros((len(tree.rows), len(chosen)), np.uint8)
    for s in range(len(chosen)):
        wanted[tree.place(rows[s % half]), s] = 1
    items = len(np.unique(contents.item))
    size = with_bits(items, -(-run["bits each"] * len(chosen) // 32) * 32)
    publishers = [tree.place(row) for row in rows[half:]]
    with run.timed("run"):
        return _observed(tree, wanted, contents, key, size, publishers, random_state)


def _observed(
    tree: Traffic,
    wanted: npt.NDArray[np.uint8],
    contents: Catalogue,
    key: int,
    size: Size,
    publishers: list[int],
    random_state: np.random.Generator,
) -> Observations:
    below, above = filters(tree, wanted, contents, size)
    bloom = [passes(words, contents, key, size) for words in (below, above)]
    matched = match_matrix(wanted, contents)
    exact = [part.astype(np.bool_) for part in tree.behind(matched)]
    everything = [np.ones_like(part) for part in exact]
    counts: dict[str, list[npt.NDArray[np.int64]]] = {"exact": [], "bloom": [], "none": []}
    lost = 0
    for first, publisher in enumerate(publishers):
        mine = np.arange(first, EVENTS, len(publishers))
        for name, (down, up) in (("exact", exact), ("bloom", bloom), ("none", everything)):
            count, reached = tree.transmissions(publisher, down[:, mine], up[:, mine])
            counts[name].append(count)
            lost += int((matched[:, mine] & ~reached).sum())
    queried = {} if contents.value.shape[1] else _false(tree, wanted, contents, key, size)
    return {
        **{name: np.concatenate(of_networks) for name, of_networks in counts.items()},
        "lost": np.array([lost]),
        **queried,
        "chunks": _removal(tree, wanted, contents, size, random_state),
        "links": np.array([len(tree.rows) - 1]),
        "bits": np.array([size.bits]),
    }


def _false(
    tree: Traffic, wanted: npt.NDArray[np.uint8], contents: Catalogue, key: int, size: Size
) -> dict[str, npt.NDArray[np.float64]]:
    """Return the shares of (filter, unsubscribed topic) that an event layer admits: measured, and
    by formula.

    Only by topic: an event is then one query of a filter.
    """
    others = catalogue([], [(TOPICS + s, ()) for s in range(OTHER_TOPICS)], key)
    topics = np.zeros((len(wanted), TOPICS), np.bool_)
    for s, topic in enumerate(contents.topic):
        topics[wanted[:, s] == 1, topic] = True
    admitted, expected = [], []
    for words, held in zip(filters(tree, wanted, contents, size), tree.behind(topics), strict=True):
        admitted.append(passes(words[1:], others, key, size).mean())
        items = held[1:].sum(axis=1)
        expected.append(np.mean([expected_false_positives(size, count) for count in items]))
    return {"false": np.array([np.mean(admitted)]), "predicted": np.array([np.mean(expected)])}


def _removal(
    tree: Traffic,
    wanted: npt.NDArray[np.uint8],
    contents: Catalogue,
    size: Size,
    random_state: np.random.Generator,
) -> npt.NDArray[np.float64]:
    """Return [REMOVED]: chunks of all event-layer filters that differ after one subscription is
    removed.
    """
    before = filters(tree, wanted, contents, size)
    chunks = np.empty(REMOVED)
    for k, s in enumerate(random_state.choice(wanted.shape[1], REMOVED, replace=False)):
        left = wanted.copy()
        left[:, s] = 0
        chunks[k] = sum(
            int((old[1:, c : c + CHUNK_WORDS] != new[1:, c : c + CHUNK_WORDS]).any(axis=1).sum())
            for old, new in zip(before, filters(tree, left, contents, size), strict=True)
            for c in range(0, size.words, CHUNK_WORDS)
        )
    return chunks
