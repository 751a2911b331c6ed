"""Paper 3: GeoRendezvous (Carvalho, Araújo & Rodrigues 2006); cited as `geo` in comments."""
