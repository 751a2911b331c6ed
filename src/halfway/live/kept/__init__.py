"""The exchange of kept events between nodes with journals: publishers, readers, acknowledgements.

A kept event travels like any other event. Once a second, the publisher also states which numbers of
each stream it still keeps. A node with a journal reads the streams that match its subscriptions: it
announces its filters as a retained value, delivers the events of a stream in order, acknowledges
events on disk, and requests missing events. The publisher keeps an event until all announced
readers of its topic have acknowledged it.

`kept_store.py` has the kept events themselves, as records of the journal. All messages of the
exchange are events on topics below `$halfway/`. So they cross the mesh under any system, without a
route to a node.
"""
