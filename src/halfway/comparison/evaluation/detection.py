"""The metrics of failure detectors: detection time and mistakes.

The terms are those of Chen, Toueg & Aguilera 2002, "On the quality of service of failure
detectors".
"""

from halfway.comparison.evaluation import members
from halfway.comparison.evaluation.comparison_results import Metric
from halfway.comparison.evaluation.outcome_parts import ValueOf, reader

DETECTED_SHARE = "detected-share"  # by which detectors are comparable in their costs


_read = reader(lambda o: o.detection)


METRICS: tuple[tuple[Metric, ValueOf], ...] = (
    (Metric(DETECTED_SHARE, "detected share", "",
            "The share of crashes and monitors for which the monitor suspects the member when the "
            "member comes back, or at the end of the run. A monitor of a crash was up and knew the "
            "member when it crashed, and stays up. Crashes before `workload.start_s` do not "
            "count.", "more", most=1.0),
     _read(lambda d: d.detected_share)),
    (Metric("detection-first", "detection, first monitor", "s",
            "The mean time from a crash to the first suspicion that lasts until the member is "
            "back, or until the run ends."),
     _read(lambda d: d.first_s)),
    (Metric("detection-all", "detection, all monitors", "s",
            "The mean time from a crash until all its monitors suspect the member for good. Only "
            "crashes that all monitors detect have a value."),
     _read(lambda d: d.all_s)),
    (Metric("mistake-rate", "mistakes / pair", "1/h",
            "The number of mistakes of one monitor about one member in an hour. A mistake begins "
            "when the monitor suspects a member that is up. A member behind a partition is up."),
     _read(lambda d: d.mistakes_per_hour)),
    (Metric("mistake-duration", "mistake duration", "s",
            "The mean time from the start of a mistake until the monitor trusts the member again, "
            "the member or the monitor crashes, or the run ends. Mistakes that begin before "
            "`workload.start_s` do not count."),
     _read(lambda d: d.mistake_s)),
    (Metric("query-accuracy", "query accuracy", "",
            "The time in which a monitor trusts a member that is up, divided by the time in which "
            "it knows this member. A suspicion that outlives a crash counts as wrong.",
            "more", most=1.0),
     _read(lambda d: d.query_accuracy)),
)  # fmt: skip
NAMES = (*(metric.name for metric, _ in METRICS), *members.NAMES)
