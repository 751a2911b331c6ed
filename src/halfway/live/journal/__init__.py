"""The journal: what a node must not lose, in checksummed segments on disk, synced in groups.

`records` has the form of a segment, `journal` the journal over a `Storage`, `storage` its files,
`commit` the groups of an event loop, and `kept` the events of delivery level `kept`.
"""
