"""Reports of finished studies and runs: terminal tables, CSV, plots, HTML pages."""
