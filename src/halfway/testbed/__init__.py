"""A scenario run by real nodes on the air, beside its simulation."""
