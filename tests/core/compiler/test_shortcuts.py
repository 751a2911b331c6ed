"""Shortcuts through numba's work: the answers of numba's own functions, in less time."""

import gc
import threading
from pathlib import Path
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given
from numba.core import ir
from numba.core.compiler import Flags, run_frontend

from halfway.core.compiler import shortcuts
from halfway.core.compiler.shortcuts import collector_paused
from halfway.core.filters import match_matrix
from halfway.protocols.georendezvous import handler
from tests.core.compiler.programs import run_program, start_program, write_modules

SWITCHES = ("nrt", "release_gil", "debuginfo", "no_cpython_wrapper", "forceinline")
SET = st.dictionaries(st.sampled_from(SWITCHES), st.booleans())


def flags_of(switches: dict[str, bool]) -> Flags:
    made = Flags()
    for name, value in switches.items():
        setattr(made, name, value)
    return made


@given(SET, SET)
def test_flags_are_equal_if_all_values_are(one: dict[str, bool], other: dict[str, bool]) -> None:
    first, second = flags_of(one), flags_of(other)
    values = {name: getattr(first, name) for name in Flags.options}
    assert first.values() == shortcuts.values_of(first) == values
    equal = all(getattr(first, name) == getattr(second, name) for name in Flags.options)
    assert (first == second) is equal
    assert hash(first) == hash(second) == hash(tuple(sorted(Flags.options)))
    assert first != "flags"


def listed(value: object) -> list[ir.Var]:
    """The variables in an operand, as numba collects them."""
    if isinstance(value, ir.Var):
        return [value]
    if isinstance(value, ir.Expr):
        return listed(value._kws)
    if isinstance(value, ir.Stmt):
        return listed(value.__dict__)
    if isinstance(value, dict):
        value = tuple(value.values())
    parts = value if isinstance(value, list | tuple) else ()
    return [one for part in parts for one in listed(part)]


@pytest.mark.parametrize("kernel", [match_matrix, handler.handle], ids=["a kernel", "a handler"])
def test_the_variables_of_an_instruction_are_those_of_its_operands_in_order(kernel: Any) -> None:
    found = run_frontend(kernel.py_func)
    statements = [one for block in found.blocks.values() for one in block.body]
    assert len(statements) > 20
    several = 0
    for statement in statements:
        variables = statement.list_vars()
        assert variables == listed(statement)
        several += len(variables) > 2
    assert several


def test_the_collector_is_paused_until_the_last_of_several_compilations_ends() -> None:
    first, second = collector_paused(), collector_paused()
    assert gc.isenabled()
    with first:
        assert not gc.isenabled()
        begun = threading.Thread(target=second.__enter__)
        begun.start()
        begun.join()
    assert not gc.isenabled()
    second.__exit__(None, None, None)
    assert gc.isenabled()


def test_a_collector_that_is_off_stays_off() -> None:
    gc.disable()
    try:
        with collector_paused(), collector_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def test_a_failed_compilation_turns_the_collector_on(tmp_path: Path) -> None:
    write_modules(tmp_path, kernels=(
        "from halfway.core.compiled import kernel\n"
        "@kernel\ndef wrong(x):\n    return x.no_such_field\n"
    ))  # fmt: skip
    attempt = "try:\n    kernels.wrong(1)\nexcept Exception:\n    print(gc.isenabled())"
    assert run_program(tmp_path, f"import gc, kernels\n{attempt}") == ["True"]


def test_a_kernel_runs_without_an_import_of_linear_algebra(tmp_path: Path) -> None:
    """Numba imports `scipy.linalg` where a kernel needs it."""
    write_modules(tmp_path, kernels=(
        "import numpy as np\n"
        "from halfway.core.compiled import kernel\n"
        "@kernel\ndef doubled(x):\n    return 2 * x\n"
        "@kernel\ndef product(a, b):\n    return np.dot(a, b)\n"
    ))  # fmt: skip
    program = (
        "import sys, kernels, numpy as np\n"
        "print(kernels.doubled(4), 'scipy.linalg' in sys.modules)\n"
        "print(kernels.product(np.array([1.0, 2.0]), np.array([3.0, 4.0])))\n"
        "print('scipy.linalg' in sys.modules)"
    )
    assert start_program(tmp_path, program) == ["8", "False", "11.0", "True"]
