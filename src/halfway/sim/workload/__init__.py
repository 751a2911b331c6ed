"""The workload of a run: start-up commands, publications, payloads and requests."""
