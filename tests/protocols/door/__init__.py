"""Records that no node sent: the check at the door, and what passes it."""
