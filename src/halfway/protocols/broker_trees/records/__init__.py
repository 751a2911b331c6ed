"""The records of the broker trees: their kinds, fields and ranges."""
