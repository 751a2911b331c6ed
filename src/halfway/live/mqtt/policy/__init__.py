"""The policy of the MQTT door: the permissions of its clients, and the limits of the door."""
