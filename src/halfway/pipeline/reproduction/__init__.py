"""The reproduction of a paper: its declared figures, published values and verdicts."""
