"""The results of a comparison with all their words: the notes, the methods and the decisions'
sentences, which other modules write.
"""

import contextlib

from msgspec.structs import replace

from halfway.comparison.request import Request
from halfway.comparison.run_comparison import Completed
from halfway.problem import Problem
from halfway.report.comparison.decision_text import worded
from halfway.report.comparison.notes import methods_of, notes_of


def with_words(request: Request, completed: Completed) -> Completed:
    """Return a completed comparison whose results have all their words: notes, methods and
    sentences.
    """
    results, scenarios = completed.results, [point.scenario for point in request.points]
    systems = []
    for source in request.systems:
        with contextlib.suppress(Problem):  # a system that cannot be read has failed runs instead
            systems.append(source.system())
    replicates = results.replicates
    finished = completed.runs, results.cells, replicates
    notes = notes_of(scenarios, systems, *finished, request.until, request.remarks)
    methods = methods_of(request.scenario, replicates, request.replicates)
    decisions = tuple(
        worded(decision, results.metrics, replicates) for decision in results.decisions
    )
    words = replace(results, notes=notes, methods=methods, decisions=decisions)
    return completed._replace(results=words)
