"""The journal of a live node: records that must not get lost, in checksummed segments on disk,
synced in groups.

`segment.py` has the form of a segment, `journal.py` the journal over a `Storage`, `storage.py` its
files, and `commit.py` the groups of an event loop.
"""
