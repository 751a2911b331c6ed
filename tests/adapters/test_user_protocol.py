"""A protocol of the user's own: found, checked, told of in a line, and run beside all others."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from halfway.adapters.user_protocol import UserSource, read_user_system, user_system
from halfway.comparison.compile_ahead import explained
from halfway.comparison.plan import SystemSource, point_of
from halfway.problem import Problem
from halfway.scenario.reading import read_scenario
from tests.comparison.scenes import written

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_protocol.py"
BEGUN = """
import sys
from halfway.adapters.user_protocol import own_system, read_own
from halfway.sim.simulation import Simulation
from halfway.world.workload.demand import Drawn
from halfway.world.graphs.unit_disk import connected_unit_disk
network = connected_unit_disk(20, 0.5, seed=1).network
demand = Drawn(n=20, subscribers_each=5, events=3, seed=1)
system = own_system(read_own(sys.argv[1]))
told = Simulation(system, network, workload=demand, seconds=9.0, options={options}).run()
print(told.delivery_ratio, sum(told.sent.values()))
"""


def simulated(path: Path, options: str = "{}", **environment: str) -> list[float]:
    """Delivery ratio and transmissions of a small run, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", BEGUN.replace("{options}", options), str(path)],
        capture_output=True, text=True, check=False, env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_the_example_runs_and_its_numbers_can_be_set() -> None:
    ratio, sent = simulated(EXAMPLE, NUMBA_DISABLE_JIT="1")
    assert ratio == 1.0
    assert simulated(EXAMPLE, '{"enough": 1000}', NUMBA_DISABLE_JIT="1") == [1.0, 60.0]  # a flood
    assert 3 <= sent < 60


@pytest.mark.slow
def test_an_edited_protocol_is_compiled_anew(tmp_path: Path) -> None:
    """Two cold engines, half a minute each."""
    mine = tmp_path / "my_protocol.py"
    mine.write_text(EXAMPLE.read_text())
    before = simulated(mine)
    assert before == simulated(EXAMPLE, NUMBA_DISABLE_JIT="1")
    mine.write_text(EXAMPLE.read_text().replace("< rules.enough - 1:", ">= 0:"))
    assert simulated(mine) == [1.0, 60.0]
    assert simulated(EXAMPLE) == before


def test_a_name_is_the_files_and_no_other_systems(tmp_path: Path) -> None:
    assert read_user_system(str(EXAMPLE)).name == "my-protocol"
    assert read_user_system("json.decoder").text.startswith('"""')
    taken = tmp_path / "gossip.py"
    taken.write_text("x = 1")
    with pytest.raises(Problem, match=r"'gossip' is a system already \(rename the file\)"):
        read_user_system(str(taken))
    odd = tmp_path / "a b.py"
    odd.write_text("x = 1")
    with pytest.raises(Problem, match="letters, digits"):
        read_user_system(str(odd))


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("import numpy as np", "import nunpy", r"my_protocol\.py:\d+: ModuleNotFoundError"),
        ("class Rules(", "class Rules((", r"my_protocol\.py:\d+: SyntaxError"),
        ("def most_emissions", "def many_emissions", "the system has no most_emissions"),
        ("@handles(CountState)", "", "my-protocol: nobody handles its State"),
        ("    DELIVERED: ", "    DELIVERT: ", r"my_protocol\.py:\d+: NameError: .*DELIVERT"),
        ('"enough": (3, 1, 1000,', '"enough": (3, 1000,', r"OPTIONS\['enough'\] is neither"),
        ('    "enough": ', '    "enuff": ', "nobody says what Rules.enough is"),
        ("COPY = 2", "raise SystemExit(3)\nCOPY = 2", r"my_protocol\.py:\d+: SystemExit: 3"),
    ],
)  # fmt: skip
def test_a_broken_module_is_one_line(old: str, new: str, told: str) -> None:
    text = EXAMPLE.read_text()
    assert old in text
    with pytest.raises(Problem, match=told) as caught:
        user_system(UserSource("my-protocol", text.replace(old, new, 1)))
    assert "\n" not in str(caught.value)


def test_options_are_those_of_the_module_or_the_defaults_of_its_rules() -> None:
    text = EXAMPLE.read_text()
    options = user_system(UserSource("my-protocol", text)).options
    assert (options["enough"].default, options["enough"].high) == (3, 1000)
    bare = text[: text.index("OPTIONS = {")] + text[text.index("class Rules") :]
    bare = bare.replace("wait: float", "wait: float = 0.5").replace(
        "enough: int", "enough: int = 4"
    )
    options = user_system(UserSource("my-protocol", bare)).options
    assert {name: one.default for name, one in options.items()} == {"wait": 0.5, "enough": 4}


def test_a_scenario_may_set_them(tmp_path: Path) -> None:
    mine = user_system(read_user_system(str(EXAMPLE)))
    change = {"options.my-protocol.enough": "2"}
    read = read_scenario(written(tmp_path), change, {"my-protocol": mine})
    parameters = point_of(read, SystemSource(*read_user_system(str(EXAMPLE)))).parameters
    assert json.loads(str(parameters["options"])) == {"enough": 2}
    assert parameters["source"] == EXAMPLE.read_text()
    with pytest.raises(Problem, match=r"options\.my-protocol: 'my-protocol' is no system"):
        read_scenario(written(tmp_path), change)
    with pytest.raises(Problem, match="enough = 0: it must be a whole number from 1 to 1000"):
        read_scenario(written(tmp_path), {"options.my-protocol.enough": "0"}, {"my-protocol": mine})


def test_what_the_compiler_says_is_told_in_a_line() -> None:
    from numba.core.errors import TypingError

    said = """Failed in nopython mode pipeline (step: nopython frontend)
No implementation of function Function(<function handle>) found for signature:

   Unknown attribute 'sen' of type CountState(array(int32, 1d, C))

  File "../cache/halfway/bab97cdd/own-633e8568899f968f/bad_protocol.py", line 82:
  def handle(state, rules, around, book, i, message, out):
  File "src/halfway/core/handler.py", line 45:
"""
    told = "bad_protocol.py:82: TypingError: Unknown attribute 'sen' of type CountState(array(int32"
    assert explained(TypingError(said)).startswith(told)
    assert explained(ValueError("once\n  only")) == "ValueError: once only"
