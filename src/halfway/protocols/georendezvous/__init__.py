"""GeoRendezvous: geographic rendezvous on a cell hash table (paper 3, `geo`)."""
