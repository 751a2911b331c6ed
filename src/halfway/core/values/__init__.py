"""Values in records: the ranges of record fields, and the digests of states."""
