"""Values in records: what their fields may hold."""
