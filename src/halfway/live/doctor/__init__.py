"""The checks of `halfway doctor`: what a live node needs of this machine, and remedies."""
