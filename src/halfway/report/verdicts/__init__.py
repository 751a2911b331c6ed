"""The report of reproduced figures: verdict tables, plots, and the HTML page."""
