"""Sessions of clients as a machine without input or output: bytes, events and the time go in.

`Machine` is the face of this folder. The folder's modules build on each other in this order:
timers, outgoing, session, connection, shares, table, connecting, publishing, subscribing, machine.
"""
