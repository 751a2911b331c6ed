"""The numbers that mean "missing" in records and in the tables of nodes, each with a name."""

import numpy as np

NONE = np.int32(-1)  # in a field: no node id, topic, event or count
NO_PLACE = np.int64(-1)  # instead of a place in a table: nothing was found, or no place is free
