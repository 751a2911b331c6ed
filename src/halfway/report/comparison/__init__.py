"""The page of a comparison: tables, plots, and a map that plays one run of each system."""
