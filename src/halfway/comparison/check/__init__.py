"""The check of a comparison before it runs: `halfway check`."""
