"""Interpreted twins: the same results as machine code, without compiling anything."""

import subprocess
import sys

import numpy as np

from halfway.core import bloom, driver
from halfway.core.compiled import inlined, kernel
from halfway.core.compiler.interpreted import interpreted
from halfway.core.prng import random_states, seeded


@inlined
def _double(x):
    return 2 * x


@kernel
def _sum_of_doubles(values):
    total = 0
    for value in values:
        total += _double(value)
    return total


@kernel
def _even(n):
    return True if n == 0 else not _even(n - 1)


def _outer(values):
    return _sum_of_doubles(values) + 1


def test_a_twin_calls_twins_and_not_machine_code() -> None:
    values = np.arange(5)
    assert interpreted(_outer)(values) == _outer(values) == 21
    twin = interpreted(_sum_of_doubles)
    assert not hasattr(twin, "py_func")
    assert not hasattr(twin.__globals__["_double"], "py_func")


def test_a_function_has_one_twin_even_if_it_calls_itself() -> None:
    assert interpreted(_even) is interpreted(_even)
    assert interpreted(_even)(4)


def test_attributes_of_modules_are_twins_too() -> None:
    def uses_module(word):
        return driver.is_running(word)

    assert interpreted(uses_module)(np.uint32(2))


def test_foreign_functions_are_their_own_twins() -> None:
    assert interpreted(np.sort) is np.sort
    assert interpreted(len) is len


def test_unsigned_numbers_wrap_around_as_in_machine_code() -> None:
    ids = np.array([7, 2**31 - 1], np.int32)
    with np.errstate(over="ignore"):
        twin = interpreted(random_states)(ids, 5)
        word = interpreted(seeded)(np.uint64(5), 7)
    assert twin.tolist() == random_states(ids, 5).tolist()
    assert word == twin[0]
    words, same = np.zeros(4, np.uint32), np.zeros(4, np.uint32)
    bloom.insert(words, np.uint64(99), 128, 3)
    with np.errstate(over="ignore"):
        interpreted(bloom.insert)(same, np.uint64(99), 128, 3)
    assert words.tolist() == same.tolist()


def test_a_node_starts_without_a_compiler() -> None:
    program = (
        "import numpy as np\n"
        "from halfway.core.compiler import callees\n"
        "def refuse(*_): raise AssertionError('compiled')\n"
        "callees.KernelDispatcher.compile = refuse\n"
        "from halfway.live.step.node_stepper import Stepper\n"
        "from halfway.live.systems.face import NodeParameters\n"
        "from halfway.live.systems.live_systems import face_of\n"
        "from halfway.live.link.neighbour_table import HelloTable\n"
        "from halfway.live.limits import Limits\n"
        "face = face_of('walk-overlay', {}, NodeParameters(1, 1, 1, Limits()))\n"
        "around = HelloTable(1, 0, 64, 99).neighbourhood\n"
        "one = Stepper(face.node, around, node_id=1, incarnation=0,"
        " hashes=np.zeros(9, np.uint64))\n"
        "print(one.command(face.before_publishing()[0].kind), len(one.emissions()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert done.stdout.split()[0] == "True", done.stderr
