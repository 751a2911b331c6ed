"""Frames and fragments: what datagrams of live nodes contain."""
