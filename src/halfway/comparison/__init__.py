"""The comparison of systems on a scenario: its request, plan, runs, statistics and results."""
