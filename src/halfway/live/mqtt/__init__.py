"""The MQTT door: clients of MQTT 3.1.1 and 5.0 publish and subscribe through a node of the mesh."""
