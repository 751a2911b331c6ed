"""Programs that measure live nodes under faults, and the conformance of the MQTT door."""
