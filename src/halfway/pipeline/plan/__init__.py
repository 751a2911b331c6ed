"""What is to run, and the keys that name it."""
