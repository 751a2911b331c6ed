"""Default numbers of replicates of a comparison; imports nothing, so that commands start fast."""

REPLICATES = 10
MAX_REPLICATES = 200  # where a stopping rule stops adding replicates
