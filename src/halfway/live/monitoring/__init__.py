"""What people and programs see of a running node: metrics, and the status page."""
