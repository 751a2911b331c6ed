"""The traces of runs: the writer and the rerun."""
