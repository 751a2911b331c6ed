"""Which fields of records hold values that the table of kinds does not declare."""

from typing import Any

import numpy as np

from halfway.core.kinds import FIELDS, Kinds
from halfway.core.message import RECORD

# The other fields are blank at -1, args and reals at 0.
_BLANK = {"flags": 0, "sequence": 0, "epoch": 0}


def undeclared(kinds: Kinds, records: Any) -> list[str]:
    """Fields and places that some record fills although its kind does not declare them."""
    found = []
    for number in np.unique(records["kind"]):
        some = records[records["kind"] == number]
        if int(number) not in kinds:
            found.append(f"kind {number} is not in the table")
            continue
        kind = kinds[number]
        found += [
            f"{kind.name}: {field}"
            for field in sorted(FIELDS - set(kind.fields))
            if (some[field] != _BLANK.get(field, -1)).any()
        ]
        found += [
            f"{kind.name}: {array}[{place}]"
            for array in ("args", "reals")
            for place in range(RECORD[array].shape[0])
            if not any(place in declared for declared in kind.places(array).values())
            and (some[array][:, place] != 0).any()
        ]
    return found
