"""A user's protocol: found, checked with errors of one line, and run like a built-in system."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from halfway.adapters.user_errors import user_problem
from halfway.adapters.user_protocol import UserSource, read_user_system, user_system
from halfway.comparison.plan import SystemSource, point_of
from halfway.problem import Problem
from halfway.scenario.reading import read_scenario
from tests.comparison.scenarios import written

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_protocol.py"
PROGRAM = """
import sys
from halfway.adapters.user_protocol import read_user_system, user_system
from halfway.sim.simulation import Simulation
from halfway.world.workload.demand import Drawn
from halfway.world.graphs.unit_disk import connected_unit_disk
network = connected_unit_disk(20, 0.5, seed=1).network
demand = Drawn(n=20, subscribers_each=5, events=3, seed=1)
system = user_system(read_user_system(sys.argv[1]))
outcome = Simulation(system, network, workload=demand, seconds=9.0, options={options}).run()
print(outcome.delivery_ratio, sum(outcome.sent.values()))
"""


def simulated(path: Path, options: str = "{}", **environment: str) -> list[float]:
    """Delivery ratio and transmissions of a small run, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM.replace("{options}", options), str(path)],
        capture_output=True, text=True, check=False, env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return [float(word) for word in done.stdout.split()]


def test_the_example_runs_and_its_options_can_be_set() -> None:
    ratio, sent = simulated(EXAMPLE, NUMBA_DISABLE_JIT="1")
    assert ratio == 1.0
    assert simulated(EXAMPLE, '{"repeats": 1000.0}', NUMBA_DISABLE_JIT="1") == [
        1.0,
        60.0,
    ]  # a flood
    assert 3 <= sent < 60


@pytest.mark.slow
def test_an_edited_protocol_is_compiled_anew(tmp_path: Path) -> None:
    """Two cold engines, half a minute each."""
    mine = tmp_path / "my_protocol.py"
    mine.write_text(EXAMPLE.read_text())
    before = simulated(mine)
    assert before == simulated(EXAMPLE, NUMBA_DISABLE_JIT="1")
    mine.write_text(EXAMPLE.read_text().replace("* neighbours < rules.repeats", "< 1.0"))
    assert simulated(mine) == [1.0, 60.0]
    assert simulated(EXAMPLE) == before


def test_the_file_names_the_system_and_may_not_name_a_built_in_one(tmp_path: Path) -> None:
    assert read_user_system(str(EXAMPLE)).name == "my-protocol"
    assert read_user_system("json.decoder").text.startswith('"""')
    taken = tmp_path / "gossip.py"
    taken.write_text("x = 1")
    with pytest.raises(Problem, match=r"'gossip' is a built-in system \(rename the file\)"):
        read_user_system(str(taken))
    odd = tmp_path / "a b.py"
    odd.write_text("x = 1")
    with pytest.raises(Problem, match="letters, digits"):
        read_user_system(str(odd))


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("import numpy as np", "import nunpy", r"my_protocol\.py:\d+: ModuleNotFoundError"),
        ("class Rules(", "class Rules((", r"my_protocol\.py:\d+: SyntaxError"),
        ("def most_emissions", "def many_emissions", "expected most_emissions in the file"),
        ("@handles(State)", "", "State: expected a registered handler .put @handles"),
        ("KINDS.include(", "print(", "KINDS: expected kinds named publish, subscribe and"),
        ("def most_em", "KINDS = {}\n\n\ndef most_em", "KINDS: expected a table of record kinds"),
        ("    SUBSCRIBE,", "    SUBSCRIPE,", r"my_protocol\.py:\d+: ImportError: .*SUBSCRIPE"),
        ('"repeats": (6.0, 0.0, 1e9,', '"repeats": (6.0, 0.0,', r"OPTIONS\['repeats'\]: expected"),
        ('    "repeats": ', '    "repeets": ', "Rules.repeats: expected a default value"),
        ("topics: int,", "themes: int,", r"state\(themes\): expected parameters among node_ids"),
        ("KINDS = ", "raise SystemExit(3)\nKINDS = ", r"my_protocol\.py:\d+: SystemExit: 3"),
    ],
)  # fmt: skip
def test_a_broken_file_is_an_error_of_one_line(old: str, new: str, error: str) -> None:
    text = EXAMPLE.read_text()
    assert old in text
    with pytest.raises(Problem, match=error) as caught:
        user_system(UserSource("my-protocol", text.replace(old, new, 1)))
    assert "\n" not in str(caught.value)


def test_options_are_those_of_the_module_or_the_defaults_of_its_rules() -> None:
    text = EXAMPLE.read_text()
    options = user_system(UserSource("my-protocol", text)).options
    assert (options["wait_s"].default, options["wait_s"].high) == (0.05, 1e9)
    bare = text[: text.index("OPTIONS = {")] + text[text.index("class Rules") :]
    bare = bare.replace("wait_s: float", "wait_s: float = 0.5").replace(
        "repeats: float", "repeats: float = 4.0"
    )
    options = user_system(UserSource("my-protocol", bare)).options
    assert {name: one.default for name, one in options.items()} == {"wait_s": 0.5, "repeats": 4.0}


def test_an_option_may_be_declared_as_built_in_systems_do() -> None:
    text = EXAMPLE.read_text().replace('(0.05, 0.0, 1e9, "seconds ', 'seconds(0.05, "')
    text = text.replace("import numpy as np", "import numpy as np\n"
                        "from halfway.core.options import seconds", 1)  # fmt: skip
    options = user_system(UserSource("my-protocol", text)).options
    assert options == user_system(UserSource("my-protocol", EXAMPLE.read_text())).options


def test_a_scenario_may_set_them(tmp_path: Path) -> None:
    mine = user_system(read_user_system(str(EXAMPLE)))
    change = {"options.my-protocol.repeats": "2.5"}
    read = read_scenario(written(tmp_path), change, {"my-protocol": mine})
    parameters = point_of(read, SystemSource(*read_user_system(str(EXAMPLE)))).parameters
    assert json.loads(str(parameters["options"])) == {"repeats": 2.5}
    assert parameters["source"] == EXAMPLE.read_text()
    with pytest.raises(Problem, match=r"options\.my-protocol: 'my-protocol' is not a system"):
        read_scenario(written(tmp_path), change)
    change = {"options.my-protocol.repeats": "-1"}
    with pytest.raises(Problem, match=r"repeats = -1: expected a number from 0 to 1e\+09"):
        read_scenario(written(tmp_path), change, {"my-protocol": mine})


def test_an_error_of_the_compiler_is_one_line() -> None:
    from numba.core.errors import TypingError

    error = """Failed in nopython mode pipeline (step: nopython frontend)
No implementation of function Function(<function handle>) found for signature:

   Unknown attribute 'sen' of type CountState(array(int32, 1d, C))

  File "../cache/halfway/own-633e8568899f968f/user_protocol.py", line 82:
  def handle(state, rules, neighbourhood, i, message, out):
  File "src/halfway/core/handler.py", line 45:
"""
    line = "bad_protocol.py:82: TypingError: Unknown attribute 'sen' of type CountState(array(int32"
    assert str(user_problem(TypingError(error), "bad-protocol", "")).startswith(line)
