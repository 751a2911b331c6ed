"""The metrics of a run: delivery accounting, observers of groups and detectors, and the outcome."""
