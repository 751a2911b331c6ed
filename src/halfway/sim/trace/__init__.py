"""The traces of runs: their writer, their reader, and the rerun."""
