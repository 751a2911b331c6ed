"""The map of a comparison, which is kept beside its page, so that the same runs and code are drawn
once.
"""

import hashlib
import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from halfway.comparison.replay.recording import record_replays
from halfway.comparison.request import Request
from halfway.comparison.run_comparison import Completed
from halfway.files import write_whole
from halfway.pipeline.plan.provenance import code_digest
from halfway.report.comparison.map.map_section import SCRIPTS, map_section
from halfway.report.comparison.node_section import node_section
from halfway.report.comparison.plots.system_marks import mark_numbers

_ASSETS = ("map.css", *SCRIPTS)
_FOLDER = "halfway.report.comparison.map"  # of the assets
_NAME = ".map"  # the first line is the key, the rest is HTML
Progress = Callable[[int, int], None]  # systems traced, of how many


def map_of_comparison(
    folder: Path, request: Request, completed: Completed, progress: Progress
) -> str:
    """Return the sections of a comparison's map and nodes, which its folder keeps.

    Without kept sections of these runs, they are drawn from runs that are made again.
    """
    kept, key = folder / _NAME, map_key(completed)
    if kept.is_file():
        first, _, text = kept.read_text("utf-8", "replace").partition("\n")
        if first == key:
            return text
    marks, title = mark_numbers(completed.results.systems), completed.results.title
    replays = record_replays(request, completed, progress)
    text = f"{map_section(replays, marks, title)}{node_section(replays, marks)}"
    write_whole(kept, f"{key}\n{text}")
    return text


def map_key(completed: Completed) -> str:
    """Return the digest of the content of a comparison's map: scenario, systems, runs and code."""
    digest = hashlib.sha256(code_digest(__name__).encode())
    for name in _ASSETS:
        digest.update(files(_FOLDER).joinpath(name).read_bytes())
    results = completed.results
    first = [run for run in completed.runs if (run.point, run.replicate) == (0, 0)]
    runs = [(run.system, run.seed, run.status, run.digest) for run in first]
    scenario = {name: value for name, value in results.scenario.items() if name != "decision"}
    words = [scenario, results.systems, results.points[0], runs]
    digest.update(json.dumps(words, sort_keys=True, default=str).encode())
    return digest.hexdigest()
