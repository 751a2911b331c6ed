"""The trial of a user's protocol: what compiled code cannot report is an error with a line."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from halfway.adapters.user_errors import user_errors, user_problem
from halfway.adapters.user_protocol import read_user_system
from halfway.comparison.plan import SystemSource
from halfway.comparison.trial import small, try_first, watched
from halfway.problem import Problem
from halfway.scenario.build import simulation_of
from halfway.scenario.reading import read_scenario
from tests.comparison.scenarios import SMALL, written

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_protocol.py"
TEXT = EXAMPLE.read_text("utf-8")
REPEATED = "        emit_event(message, COPY, 0.0, EVERYONE, out)"


def own(text: str, name: str = "mine") -> SystemSource:
    return SystemSource(name, text)


def line_of(text: str, part: str) -> int:
    return text[: text.index(part)].count("\n") + 1


@pytest.mark.parametrize(
    ("old", "new", "error"),
    [
        ("seen, i, message)", "seen, i, mesage)", "NameError: name 'mesage' is not defined"),
        ("== REPEAT:", "== REPEAT + message.topik:", "no attribute 'topik'"),
        (".last[i] -", ".last[i + 99] -", "IndexError: index .* is out of"),
        (REPEATED, "        while True:\n            i = i + 0", "TimeoutError: .* not return"),
    ],
)
@pytest.mark.long
def test_a_mistake_is_an_error_with_its_line(
    tmp_path: Path, old: str, new: str, error: str
) -> None:
    assert old in TEXT
    text = TEXT.replace(old, new, 1)
    scenario = read_scenario(written(tmp_path))
    with pytest.raises(Problem, match=error) as caught:
        try_first(scenario, [own(text)])
    line = line_of(text, new.strip().splitlines()[-1])
    assert str(caught.value).startswith((f"mine.py:{line}: ", f"mine.py:{line - 1}: "))
    assert "--debug" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.long
def test_a_timer_of_zero_to_itself_is_an_error_that_says_so(tmp_path: Path) -> None:
    again = "        emit_event(message, REPEAT, 0.0, state.node_id[i], out)"
    with pytest.raises(Problem, match=r"mine: more than .* records at .* s, and time does not adv"):
        try_first(read_scenario(written(tmp_path)), [own(TEXT.replace(REPEATED, again))])


def test_a_protocol_that_passed_is_not_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scenario = read_scenario(written(tmp_path))
    try_first(scenario, [SystemSource("flooding"), own(TEXT)])
    monkeypatch.setattr("subprocess.Popen", None)
    try_first(scenario, [SystemSource("flooding"), own(TEXT)])
    with pytest.raises(TypeError):  # another text is tried
        try_first(scenario, [own(f"{TEXT}\n# edited\n")])


def test_a_trial_has_few_nodes_and_the_scenario_s_options(tmp_path: Path) -> None:
    text = SMALL + "[options.gossip]\nfanout = 3\n"
    read = read_scenario(written(tmp_path, text))
    tried = small(read)
    assert tried.options == read.options
    assert tried.network.n < 40  # type: ignore[union-attr]
    assert not tried.faults


def test_an_error_of_the_compiler_names_the_line_and_the_cause() -> None:
    from numba.core.errors import TypingError

    long = "Record(at[type=float64;offset=0])" * 30
    problem = user_problem(TypingError(f"{long}\n  NameError: name 'EVERYONE' is not defined\n"),
                           "my-protocol", TEXT)  # fmt: skip
    line = line_of(TEXT.replace("import EVERYONE", ""), ", EVERYONE, out)")
    assert str(problem).startswith(f"my_protocol.py:{line}: NameError: name 'EVERYONE' is not def")
    problem = user_problem(KeyError("topic"), "my-protocol", TEXT)
    assert "my_protocol.py:" in str(problem)
    assert "no field 'topic'" in str(problem)


def test_errors_of_built_in_systems_stay_what_they_are() -> None:
    with pytest.raises(ZeroDivisionError), user_errors("flooding", ""):
        1 / 0  # noqa: B018
    with pytest.raises(FileNotFoundError), user_errors("mine", TEXT):
        Path("missing").read_text("utf-8")
    with pytest.raises(Problem, match=r"mine\.py: ZeroDivisionError"), user_errors("mine", TEXT):
        1 / 0  # noqa: B018


@pytest.mark.long
def test_a_copy_and_a_renamed_file_run(tmp_path: Path) -> None:
    """Interpreted, in one process after the other: the second finds what the first has kept."""
    scenario, outputs = written(tmp_path), []
    for name in ("mine.py", "copy_of_mine.py"):
        (tmp_path / name).write_text(TEXT)
        command = [sys.executable, "-m", "halfway", "simulate", str(scenario), "--json", "--debug"]
        short = ["--set", "workload.events=2", "--set", "seconds=6"]
        done = subprocess.run(
            [*command, *short, "--system", str(tmp_path / name)],
            capture_output=True, text=True, check=False, env=os.environ,
        )  # fmt: skip
        assert (done.returncode, done.stderr) == (0, "")
        outputs.append(done.stdout.split('"digest"')[1])
    assert outputs[0] == outputs[1]
    (tmp_path / "mine.py").rename(tmp_path / "other.py")
    first, second = (
        read_user_system(str(tmp_path / f"{one}.py")) for one in ("other", "copy_of_mine")
    )
    assert SystemSource(*first).system().module == SystemSource(*second).system().module


@pytest.mark.parametrize("line", ["i = i + 0"])
@pytest.mark.long
def test_debug_ends_an_endless_loop(tmp_path: Path, line: str) -> None:
    text = TEXT.replace(REPEATED, f"        while True:\n            {line}")
    (tmp_path / "mine.py").write_text(text)
    done = subprocess.run(
        [sys.executable, "-m", "halfway", "simulate", str(written(tmp_path)), "--debug",
         "--system", str(tmp_path / "mine.py")],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2
    assert "TimeoutError: the handler did not return" in done.stderr


def test_the_timer_of_a_watched_run_ends_with_it(tmp_path: Path) -> None:
    """A timer that still runs when the process exits ends it with a signal."""
    run = simulation_of(read_scenario(written(tmp_path)), system="flooding")
    before = signal.getsignal(signal.SIGVTALRM)
    with watched(run):
        assert signal.getitimer(signal.ITIMER_VIRTUAL)[1] == 1.0
        assert signal.getsignal(signal.SIGVTALRM) != before
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)
    assert signal.getsignal(signal.SIGVTALRM) == before
