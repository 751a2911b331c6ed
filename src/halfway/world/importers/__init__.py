"""Networks and underlays read from files."""
