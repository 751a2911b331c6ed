"""Made data for judges: a rule for each figure, by which every claim of the figure holds."""
