"""Result folders: batches of runs, checksum manifests, requested studies."""
