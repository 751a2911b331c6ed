"""The counts of each node in the walk systems, as columns: dead walks, lost records, full
tables.
"""

REDRAWN = 0  # STEPs sent to another neighbour, because the first did not acknowledge
DIED = 1  # walks that ended because there was no neighbour to step to
LOST = 2  # records given up: their next node did not acknowledge, or there was none
EVICTED = 3  # buffered events replaced by later events before they were sent
LAUNCHED = 4  # launches by timers: unanswered, refreshed, searches, or after a crash
NO_SLOT = 5  # trails, branches and paths without room in the tables
CUT_SHORT = 6  # sweeps that ended after their most steps
COUNTS = 7
