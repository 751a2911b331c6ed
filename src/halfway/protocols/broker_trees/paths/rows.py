"""Linear search for a node id in one row of a table, as brokers and their peers have one."""

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE


@apart
def place_in_row(ids, i, node_id):
    """Return the first place of a node id in row i of a table [rows, places], or NO_PLACE if it is
    absent.

    NONE finds the first free place.
    """
    for s in range(ids.shape[1]):
        if ids[i, s] == node_id:
            return s
    return NO_PLACE
