"""The interfaces of live nodes: for programs with an event loop, for programs without an event
loop, and for commands.
"""
