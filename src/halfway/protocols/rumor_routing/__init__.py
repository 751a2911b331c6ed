"""Rumor routing: agents leave paths to events, and queries walk until they cross a path."""
