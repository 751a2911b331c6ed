"""The exchange of kept events between nodes with journals: publishers, readers, acknowledgements.

A kept event travels as any other event does. Its publisher also states each second which numbers of
each stream it still keeps. A node with a journal reads the streams that its subscriptions match: it
announces their filters as a retained value, hands on the events of a stream in order, acknowledges
what is on disk, and asks for what it missed. The publisher keeps an event until all announced
readers of its topic have acknowledged it.

All of this is published on topics below `$halfway/`, so it crosses the mesh as events do, whatever
the system is, and without a route to any node.
"""
