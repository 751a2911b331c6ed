"""The monitoring of a running node by people and programs: metrics, and the status page."""
