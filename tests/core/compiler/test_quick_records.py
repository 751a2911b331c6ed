"""Quick records: the same values, types, bytes and errors as numpy's own access to fields."""

import json
from pathlib import Path

from tests.core.compiler.programs import run_program

# Writes and reads fields of two kinds of records before and after their access becomes quick.
PROGRAM = """
import json, warnings
import numpy as np
from halfway.core.message import MESSAGE

warnings.simplefilter("ignore")
OTHER = np.dtype(
    [("at", "<i4"), ("inner", [("a", "u1"), ("b", "<f8")]), ("word", "S3"), ("args", "<u2", (2,))]
)
FORMS = "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"
VALUES = [
    0, -1, 255, 65536, 2**31, 2**32, 2**40, 1.5, -2.5, 1e300, float("nan"), True, "x", None, [1],
    (1, 2), np.int64(-1), np.int64(2**40), np.uint64(2**64 - 1), np.float64(-3.7), np.bool_(True),
    np.arange(8), np.arange(6.0), np.arange(3), np.array([7]),
    *(np.dtype(form).type(value) for form in FORMS for value in (1, 100)),
]
NAMES = *MESSAGE.names, "inner", "word", "no_such_field", "tobytes"

def tried(action, *given):
    try:
        found = action(*given)
    except Exception as error:
        return f"{type(error).__name__} {error}"
    return type(found).__name__ if callable(found) else f"{type(found).__name__} {found!r}"

def accesses():
    for form in MESSAGE, OTHER:
        for name in NAMES:
            for value in VALUES:
                records = np.zeros(2, form).view(np.recarray)
                set_to, read = (tried(setattr, records[1], name, value),
                                tried(getattr, records[1], name))
                yield name, set_to, read.partition(" at 0x")[0], records.tobytes().hex()

before = list(accesses())
assert "__getattribute__" in vars(np.record)
from halfway.core import compiled
assert "__getattribute__" not in vars(np.record)
different = [[one, other] for one, other in zip(before, accesses()) if one != other]
print(json.dumps([len(before), different], separators=(",", ":")))
"""


def test_access_to_fields_is_that_of_numpy(tmp_path: Path) -> None:
    (printed,) = run_program(tmp_path, PROGRAM, NUMBA_DISABLE_JIT="1")
    count, different = json.loads(printed)
    assert count > 1_000
    assert different == []


def test_compiled_code_leaves_the_records_of_numpy_as_they_are(tmp_path: Path) -> None:
    program = (
        "import numpy as np\nfrom halfway.core import compiled\n"
        "print('__getattribute__' in vars(np.record))"
    )
    assert run_program(tmp_path, program) == ["True"]
