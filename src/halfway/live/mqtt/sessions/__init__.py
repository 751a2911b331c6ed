"""The session machine of the MQTT door: bytes, events and times go in, bytes and publications come
out.

Other folders use `Machine`. The modules build on each other in this order: `keyed_timers.py`,
`messages.py`, `client_delivery.py`, `stored_sessions.py`, `outgoing.py`, `session.py`,
`connection.py`, `shares.py`, `door_subscriptions.py`, `table.py`, `connecting.py`,
`publishing.py`, `subscribing.py`, `machine.py`.
"""
