"""The systems that run live: the face of each, and why the others cannot."""
