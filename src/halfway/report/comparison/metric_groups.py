"""The groups of the metrics of a comparison; each group gives the columns of one table."""

from collections.abc import Iterator, Sequence

from halfway.comparison.evaluation.comparison_results import Metric, Results

# Title that stands alone, and the metrics.
GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Delivery: notifications that arrive, their paths, recovery from faults",
     ("delivery-ratio", "stretch", "recovery-time", "recovery-rate")),
    ("Latency: time from publication to notification, for delivered notifications",
     ("latency-p50", "latency-p95", "latency-p99")),
    ("Cost of a notification, memory of a node, messages of the set-up",
     ("messages-per-notification", "bytes-per-notification", "state-per-node", "set-up-messages")),
    ("Detection: crashes that monitors detect, and the time until they detect them",
     ("detected-share", "detection-first", "detection-all")),
    ("Mistakes: members that are up, and are suspected",
     ("mistake-rate", "mistake-duration", "query-accuracy")),
    ("Views: the members that a node lists, and how fast the lists follow joins, leaves and "
     "crashes",
     ("view-completeness", "view-accuracy", "join-convergence", "newcomer-time",
      "leave-convergence", "crash-convergence", "converged-share")),
    ("Requests of a replicated resource: served requests, and stale replicas",
     ("requests-served", "request-time", "fail-overs", "stale-replies", "stale-replicas",
      "messages-per-request")),
    ("Cost of a member in a second",
     ("messages-per-member", "bytes-per-member", "power-per-member", "max-load-per-member")),
    ("Energy and load of a whole run: all nodes, and the node with the highest value",
     ("energy", "max-node-energy", "max-node-load", "load-gini")),
    ("Hellos, which nodes send to learn their neighbours. The costs above include hellos",
     ("hello-messages", "hello-bytes")),
    ("Batteries: how long the energy of the nodes lasts", ("first-node-dead", "nodes-alive")),
)  # fmt: skip
# Detectors and groups have no notification and no set-up: one metric is left of its group.
_ALONE = {"state-per-node": "Memory of a node"}


def shown_groups(results: Results) -> Iterator[tuple[str, list[Metric]]]:
    """Yield the title and the metrics of each group of a comparison that has values."""
    for title, names in GROUPS:
        metrics = shown_metrics(results, names)
        if metrics:
            alone = _ALONE.get(metrics[0].name, title) if len(metrics) == 1 else title
            yield alone, metrics


def shown_metrics(results: Results, names: Sequence[str] | None = None) -> list[Metric]:
    """Return the metrics of a comparison, or of one group, that have a value in some cell."""
    known = {cell.metric for cell in results.cells if cell.replicates}
    return [
        metric
        for metric in results.metrics
        if metric.name in known and (names is None or metric.name in names)
    ]
