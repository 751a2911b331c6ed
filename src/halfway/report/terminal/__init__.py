"""Output of single commands on a terminal, and the same as JSON."""
