"""What a study looks like: terminal tables, CSV, plots, the page. Nothing is measured here."""
