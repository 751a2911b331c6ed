"""The earlier decisions of a study on the same question, which each spend a part of the allowed
error.
"""

from halfway.comparison.evaluation.comparison_results import DecisionRule
from halfway.comparison.study_name import recorded_name
from halfway.pipeline.store.store import Store
from halfway.pipeline.store.studies import record_question


def asked_before(store: Store, study: str, rule: DecisionRule, replicates: int) -> tuple[int, ...]:
    """Return the replicates of a study's earlier decisions on the same question, and record this
    one.

    A single replicate decides nothing. Raises Problem if the result folder cannot be written to.
    """
    if replicates < 2:
        return ()
    with store.adding():
        return record_question(store.studies, recorded_name(study), rule.question, replicates)
