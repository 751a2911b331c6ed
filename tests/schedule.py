"""The order in which the workers of pytest-xdist take the files of tests.

A file is never divided, so that its tests share engines and fixtures. The files that use the Spark
session are one piece of work, so that one worker starts one JVM. The house tests are one piece, so
that one worker reads and parses all sources. The longest pieces go first: a
long piece at the end would run on one core, while the other core has nothing to do.
"""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest
from xdist.remote import Producer
from xdist.scheduler import LoadFileScheduling

ROOT = Path(__file__).parents[1]
SPARK, HOUSE = "Spark", "house"
# The pieces with much CPU time and few tests. The others follow in the order of their number of
# tests.
LONGEST = (
    SPARK,
    HOUSE,
    "tests/bulk/walks/test_lazy_walks.py",
    "tests/core/compiler/test_cache.py",
    "tests/protocols/broker_trees/test_client_node.py",
    "tests/sim/environment/test_world_changes.py",
    "tests/comparison/test_trial.py",
    "tests/examples/test_programs.py",
    "tests/pipeline/spark/test_session.py",
    "tests/adapters/test_walk_overlay.py",
    "tests/core/compiler/test_callees.py",
    "tests/adapters/test_message_fields.py",
    "tests/papers/test_directional_walks.py",
    "tests/protocols/door/test_door.py",
    "tests/sim/radio/test_csma_theory.py",
    "tests/protocols/drip/test_drip.py",
    "tests/papers/test_georendezvous.py",
    "tests/sim/test_simulation.py",
    "tests/report/comparison/test_kept_map.py",
    "tests/live/step/test_parity.py",
    "tests/documentation/test_tutorials.py",
    "tests/bulk/walk_overlay/test_overlay.py",
    "tests/test_interrupts.py",
    "tests/report/verdicts/test_verdict_page.py",
    "tests/comparison/evaluation/test_decision.py",
    "tests/bulk/broker_trees/test_figures_twin.py",
    "tests/report/comparison/test_comparison_results.py",
    "tests/cli/test_fuzz.py",
    "tests/papers/test_underlay_siena.py",
    "tests/protocols/test_gossip.py",
    "tests/protocols/failure_detectors/test_histories.py",
    "tests/protocols/broker_trees/test_leaving.py",
    "tests/report/test_contrast.py",
    "tests/protocols/walks/test_lists.py",
)
_USES_SPARK = re.compile(r"^def test_\w+\([^)]*\bspark\b", re.MULTILINE)


@cache
def piece(file: str) -> str:
    """The piece of work that contains a file of tests, a path from the root of the repository."""
    if file.startswith("tests/house/"):
        return HOUSE
    return SPARK if _USES_SPARK.search((ROOT / file).read_text("utf-8")) else file


def put_longest_first(items: list[pytest.Item]) -> None:
    """Sort the collected tests by piece; the order inside a piece stays."""
    pieces = [piece(item.nodeid.partition("::")[0]) for item in items]
    tests = Counter(pieces)
    rank = {name: (number, 0) for number, name in enumerate(LONGEST)}
    others = len(LONGEST)
    keys = [(*rank.get(name, (others, -tests[name])), name) for name in pieces]
    items[:] = [items[k] for k in sorted(range(len(items)), key=keys.__getitem__)]


class InPieces(LoadFileScheduling):
    """The scheduler of `--dist loadfile`, with this module's pieces in the order of the tests."""

    def __init__(self, config: pytest.Config, log: Producer | None = None) -> None:
        config.option.loadscopereorder = False
        super().__init__(config, log)

    def _split_scope(self, nodeid: str) -> str:
        return piece(super()._split_scope(nodeid))
