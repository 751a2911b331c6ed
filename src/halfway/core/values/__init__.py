"""Values in records: the ranges of their fields, and the digest of the states that they lead to."""
