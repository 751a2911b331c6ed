"""Paths of broker trees over the underlay, which nodes learn by records: circuits hop by hop."""
