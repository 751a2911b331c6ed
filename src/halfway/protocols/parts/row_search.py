"""Linear search for a node id in one row of a table."""

from halfway.core.compiled import apart
from halfway.core.missing import NO_PLACE


@apart
def place_in_row(ids, i, node_id):
    """Return the first place of a node id in row i of a table [rows, places], or NO_PLACE
    if the row does not contain the id.

    The id NONE finds the first free place.
    """
    for s in range(ids.shape[1]):
        if ids[i, s] == node_id:
            return s
    return NO_PLACE
