"""Bulk GeoRendezvous: Cell Hash Routing over whole networks, and notification trees."""
