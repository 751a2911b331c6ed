"""Results in notebooks: HTML tables and charts."""
