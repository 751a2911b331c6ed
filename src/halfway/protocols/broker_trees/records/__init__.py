"""The records that both broker trees have: their kinds, fields and ranges."""
