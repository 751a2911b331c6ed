"""What happens to the nodes and links during a run."""
