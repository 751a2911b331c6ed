"""The documentation site and the tutorials."""
