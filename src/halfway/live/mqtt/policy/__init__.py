"""What the clients of the MQTT door may do: their permissions, and the limits of the door."""
