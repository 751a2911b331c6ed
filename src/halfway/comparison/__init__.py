"""Systems side by side on a scenario: what is planned, run and found. No drawing, no printing."""

REPLICATES = 10  # if nobody says how many
MOST_ADDED = 200  # replicates that are added up to for the sake of an interval
