"""The session machine of the MQTT door: bytes, events and times go in, bytes and publications come
out.

`Machine` is the face of this folder. The folder's modules build on each other in this order:
timers, outgoing, session, connection, shares, table, connecting, publishing, subscribing, machine.
"""
