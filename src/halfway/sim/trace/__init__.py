"""The traces of runs: their writer and their reader."""
