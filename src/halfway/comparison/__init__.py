"""Systems side by side on a scenario: what is planned, run and found. No drawing, no printing."""
