"""The checks of `halfway doctor`: what a live node finds on this machine, and what to do."""
