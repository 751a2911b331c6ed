"""The session machine of the MQTT door: its input are bytes, events and times, and its output are
bytes and publications.

Other folders use `Machine`. The modules build on each other in this order: `keyed_timers.py`,
`messages.py`, `stored_sessions.py`, `outgoing.py`, `client_session.py`, `connection.py`,
`shares.py`, `door_subscriptions.py`, `session_table.py`, `connecting.py`, `publish_packets.py`,
`subscribing.py`, `mqtt_machine.py`.
"""
