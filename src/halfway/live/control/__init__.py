"""The control socket of a process with live nodes, and its client."""
