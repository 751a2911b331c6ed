"""Rumor routing: agents leave paths to events, queries walk until they cross one."""
