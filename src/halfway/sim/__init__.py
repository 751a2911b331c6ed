"""The simulator: engine, radios, environment, workload, metrics and traces."""
