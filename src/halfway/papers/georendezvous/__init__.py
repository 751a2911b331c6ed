"""Paper 3: GeoRendezvous on Cell Hash Routing (Carvalho, Araujo, Rodrigues); cited as `geo`."""
