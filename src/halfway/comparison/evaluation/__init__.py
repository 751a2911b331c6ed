"""From the runs of a comparison to its results: metrics, statistics and the decision."""
