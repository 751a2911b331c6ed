"""The interfaces of live nodes: for programs with an event loop, without one, and for commands."""
